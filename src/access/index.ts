import type { Feature, Services } from '../feature.ts';
import type { Credentials } from '../http/index.ts';
import { permissionsOf } from '../http/index.ts';
import { sha256 } from '../lib/crypto.ts';
import type { Principal } from '../lib/principal.ts';
import { Authenticator } from './authenticator.ts';
import { Cookies } from './cookies.ts';
import { endMadeKeys } from './keys/api-keys.ts';
import { keyAttention } from './keys/attention.ts';
import { createFirstKey } from './keys/first-key.ts';
import { newKeyValue } from './keys/key-format.ts';
import { apiKeyRoutes } from './keys/routes.ts';
import { createPeople, type RoleMappings } from './people/index.ts';
import type { MeParts } from './sessions/me.ts';
import { Revalidation } from './sessions/revalidation.ts';
import { sessionRoutes } from './sessions/routes.ts';
import { Sessions } from './sessions/sessions.ts';
import { deleteEndedSessions } from './sessions/store.ts';
import { createProvider, createSignIn } from './sign-in/index.ts';

export { isKeyValue } from './keys/key-format.ts';
export { principalNames } from './keys/names.ts';
export { rootsOf } from './keys/owners.ts';
export { findPrincipalKind, findRootId } from './keys/store.ts';
export { addressees } from './people/addressees.ts';
export { createRoleMappingBody, mayGiveRoles, type RoleMappings, roleMappings } from './people/index.ts';

export interface Access {
  /** The lines of the Overview about keys. */
  keyAttention: typeof keyAttention;
  roleMappings: RoleMappings;
  /** Users, role mappings, API keys, sign-in and sessions. */
  features: readonly Feature[];
  /** Resolves to the principal of the bearer token or the session's cookie; throws 401, or 403 for another site. */
  authenticate(credentials: Credentials): Promise<Principal>;
  /**
   * Creates the first administrator's key and resolves to its value, to be shown once; null if there is a key already.
   */
  createFirstKey(): Promise<string | null>;
}

interface AccessNeeds extends Pick<MeParts, 'workItems' | 'alerts'> {
  /** All features, whose operations have permissions. Read when a request asks. */
  features: readonly Feature[];
}

/** Who may do what: people, keys, sign-in and sessions. */
export const createAccess = (services: Services, { features, workItems, alerts }: AccessNeeds): Access => {
  const { config, db, vault } = services;
  const provider = createProvider(services);
  const firstKey = newKeyValue();
  const cookies = new Cookies(config.publicUrl);
  const sessions = new Sessions(vault, () => authenticator.invalidate());
  const { identities, ...people } = createPeople(services, {
    onChange: sessions.onChange,
    endSessions: (tx, actor, userIds, reason) => sessions.endOf(tx, actor, { userIds }, reason),
    endMadeKeys,
    emailVerifiedClaim: config.oidc?.emailVerifiedClaim ?? 'email_verified',
  });
  const authenticator: Authenticator = new Authenticator({
    ...services,
    cookies,
    bootstrapHash: config.bootstrapKey === null ? null : sha256(config.bootstrapKey),
    revalidation:
      provider && new Revalidation({ ...services, sessions, identities, provider: provider.client }),
  });
  return {
    keyAttention,
    roleMappings: people.roleMappings,
    features: [
      ...people.features,
      {
        tag: {
          name: 'API keys',
          description: 'Keys act with a role: a service account’s own, or its person’s.',
        },
        routes: apiKeyRoutes(services, sessions.onChange),
      },
      createSignIn(services, { provider, cookies, identities, sessions }),
      {
        tag: { name: 'Sessions', description: 'Sessions of the application, and who a request acts as.' },
        routes: sessionRoutes({
          ...services,
          operations: () => permissionsOf(features),
          workItems,
          alerts,
          allowStdioToolServers: config.allowStdioToolServers,
          cookies,
          sessions,
          authenticator,
          provider: provider?.client ?? null,
        }),
        secrets: sessions.secrets,
        retention: [deleteEndedSessions],
        metrics: authenticator.metrics,
        start: async () => authenticator.start(),
      },
    ],
    authenticate: (credentials) => authenticator.authenticate(credentials),
    createFirstKey: async () => (config.bootstrapKey === null ? createFirstKey(db, firstKey) : null),
  };
};
