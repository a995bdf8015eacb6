import { createIdentities } from '../../src/access/people/identities.ts';
import type { IdentityResult } from '../../src/access/people/identity.ts';
import type { UserRow } from '../../src/access/people/store.ts';
import { Sessions } from '../../src/access/sessions/sessions.ts';
import type { Database } from '../../src/database/index.ts';
import { Vault } from '../../src/lib/crypto.ts';
import { parseJson } from '../../src/lib/json.ts';
import { anonymous } from '../../src/lib/principal.ts';
import { testActor } from './api.ts';

export const issuer = 'https://id.example';

const sessions = new Sessions(new Vault([Buffer.alloc(32, 1)]), () => {});
const actor = { ...testActor, principal: anonymous };

const identitiesWith = (emailVerifiedClaim: string) =>
  createIdentities({
    endSessions: (tx, actor, userIds, reason) => sessions.endOf(tx, actor, { userIds }, reason),
    endMadeKeys: async () => [],
    emailVerifiedClaim,
  });

/** Signs a person in as the provider would send it, without the provider. `claims` is JSON text or an object. */
export const arrive = (
  db: Database,
  subject: string,
  claims: object | string = {},
  { emailVerifiedClaim = 'email_verified', issuer: from = issuer } = {},
): Promise<IdentityResult> => {
  const parsed = parseJson(typeof claims === 'string' ? claims : JSON.stringify(claims)) as object;
  return db.tx((tx) =>
    identitiesWith(emailVerifiedClaim).signIn(tx, actor, {
      issuer: from,
      subject,
      claims: { sub: subject, iss: from, ...parsed },
    }),
  );
};

/** Confirms a person as a refresh would. */
export const refresh = (
  db: Database,
  userId: string,
  subject: string,
  claims: object = {},
): Promise<IdentityResult> =>
  db.tx((tx) =>
    identitiesWith('email_verified').confirm(tx, actor, userId, {
      issuer,
      subject,
      claims: { sub: subject, ...claims },
    }),
  );

/** The person of a sign-in that must not be refused. */
export const admitted = async (result: Promise<IdentityResult>): Promise<UserRow> => {
  const { user, ...refused } = await result;
  if (!user) throw new Error(`the sign-in was refused: ${JSON.stringify(refused)}`);
  return user;
};

/** The reason of a sign-in that must be refused. */
export const refusal = async (result: Promise<IdentityResult>): Promise<string> => {
  const got = await result;
  if (got.user) throw new Error('the sign-in was not refused');
  return got.refusal.reason;
};

/** Gives the person a session and returns its id. */
export const newSession = async (db: Database, userId: string): Promise<string> =>
  (
    await db.tx((tx) =>
      sessions.create(tx, actor, {
        method: 'oidc',
        userId,
        endValue: undefined,
        providerSid: null,
        idToken: null,
        refreshToken: null,
      }),
    )
  ).id;
