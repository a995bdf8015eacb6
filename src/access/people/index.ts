import { advisoryLock } from '../../database/index.ts';
import type { Feature, Services } from '../../feature.ts';
import { createIdentities } from './identities.ts';
import type { Identities } from './identity.ts';
import { previewRoutes } from './preview-route.ts';
import { roleMappingRoutes } from './role-mapping-routes.ts';
import { applyPolicy, keepingAnAdmin, type PeopleParts } from './roles.ts';
import { userRoutes } from './user-routes.ts';

export { publicUser, toUserResponse } from './user-schemas.ts';

export interface People {
  features: readonly Feature[];
  identities: Identities;
}

/** Who people are and which role each has. `onChange` empties what this replica has cached of keys and sessions. */
export const createPeople = (
  { db, settings }: Services,
  { onChange, ...parts }: PeopleParts & { onChange: () => void },
): People => {
  settings.inTransaction(async (tx, actor, before, after) => {
    if (before.DEFAULT_ROLE === after.DEFAULT_ROLE) return;
    await advisoryLock(tx, 'access');
    await keepingAnAdmin(tx, () => applyPolicy(tx, actor, parts, 'DEFAULT_ROLE'));
  });
  return {
    features: [
      {
        tag: { name: 'Users', description: 'People, invitations, and the role that each has.' },
        routes: userRoutes(db, parts, onChange),
      },
      {
        tag: {
          name: 'Role mappings',
          description: 'Which role people have by what the identity provider says.',
        },
        routes: [...roleMappingRoutes(db, parts, onChange), ...previewRoutes(db, parts)],
      },
    ],
    identities: createIdentities(parts),
  };
};
