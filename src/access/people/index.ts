import { advisoryLock, type Executor, type Tx } from '../../database/index.ts';
import type { Feature, Services } from '../../feature.ts';
import type { Actor } from '../../lib/principal.ts';
import { checkGivesRoles } from './giving-roles.ts';
import { createIdentities } from './identities.ts';
import type { Identities } from './identity.ts';
import { previewRoutes } from './preview-route.ts';
import { roleMappingRoutes } from './role-mapping-routes.ts';
import { listAllRoleMappings, type RoleMappingRow } from './role-mapping-store.ts';
import { changeRoleMappings, type RoleMappingChanges } from './role-mappings.ts';
import { applyPolicy, keepingAnAdmin, type PeopleParts } from './roles.ts';
import { userRoutes } from './routes.ts';

export { mayGiveRoles } from './giving-roles.ts';
export { createBody as createRoleMappingBody } from './role-mapping-routes.ts';
export { roleMappings } from './role-mapping-store.ts';
export { publicUser, toUserResponse } from './user-schemas.ts';

/** Role mappings, for other features that change them. */
export interface RoleMappings {
  list(executor: Executor): Promise<RoleMappingRow[]>;
  /** Makes all changes and evaluates once. Throws 412 if that leaves no active administrator. */
  change(tx: Tx, actor: Actor, changes: RoleMappingChanges, reason: string): Promise<void>;
  /** Call it after the transaction, so that nothing old is cached on this replica. */
  changed(): void;
}

export interface People {
  roleMappings: RoleMappings;
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
    if (after.DEFAULT_ROLE !== 'none') checkGivesRoles(actor.principal);
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
    roleMappings: {
      list: listAllRoleMappings,
      change: (tx, actor, changes, reason) => changeRoleMappings(tx, actor, parts, changes, reason),
      changed: onChange,
    },
    identities: createIdentities(parts),
  };
};
