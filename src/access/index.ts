import type { Feature, Services } from '../feature.ts';
import type { Principal } from '../lib/principal.ts';
import { createFirstKey } from './first-key.ts';
import { newKeyValue } from './key-format.ts';
import { Authenticator } from './keys.ts';
import { apiKeyRoutes } from './routes.ts';

export interface Access extends Feature {
  /** Resolves to the principal of a bearer token; throws 401. */
  authenticate(request: { token: string | undefined }): Promise<Principal>;
  /**
   * Creates the first administrator's key and resolves to its value, to be shown once; null if there is a key already.
   */
  createFirstKey(): Promise<string | null>;
}

/** API keys, and who a request acts as. */
export const createAccess = ({ config, db, log }: Services): Access => {
  const firstKey = newKeyValue();
  const authenticator = new Authenticator(db, log, config.bootstrapKey);
  return {
    tag: {
      name: 'API keys',
      description: 'Keys act with a role: a service account’s own, or its person’s.',
    },
    routes: apiKeyRoutes(db, authenticator),
    start: async () => authenticator.start(),
    authenticate: ({ token }) => authenticator.authenticate(token),
    createFirstKey: async () => (config.bootstrapKey === null ? createFirstKey(db, firstKey) : null),
  };
};
