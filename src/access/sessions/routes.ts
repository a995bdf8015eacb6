import { z } from 'zod';
import type { Database } from '../../database/index.ts';
import {
  type CallerRequest,
  finder,
  jsonRoute,
  listPage,
  pageOf,
  pageQuery,
  type Route,
  signInRoute,
} from '../../http/index.ts';
import { sha256 } from '../../lib/crypto.ts';
import { ApiError, notFound } from '../../lib/errors.ts';
import { type Principal, type Scope, scopesAllow } from '../../lib/principal.ts';
import type { Authenticator } from '../authenticator.ts';
import { type Cookies, sessionCookie } from '../cookies.ts';
import type { IdentityProvider } from '../sign-in/provider.ts';
import { findMe, type MeParts, me } from './me.ts';
import { session, toSession } from './schemas.ts';
import type { Sessions } from './sessions.ts';
import { findSession, listSessions, type SessionOwner } from './store.ts';

const ownerQuery = z.object({
  user_id: z.string().optional().describe('The sessions of this person, for an admin. Default: your own.'),
});

const deleteQuery = ownerQuery.extend({
  keep_current: z.enum(['true', 'false']).optional().describe('`true` keeps the session of this request.'),
});

const createBody = z.object({ api_key: z.string() }).meta({ id: 'CreateSessionBody' });

const signedOut = z
  .object({
    redirect_url: z
      .string()
      .nullable()
      .describe(
        'Where the browser ends its session at the identity provider; null if there is nothing to end there.',
      ),
  })
  .meta({ id: 'SignedOut' });

/** Returns whether the principal may see (`access:read`) or end (`access`) the sessions of others. */
const managesOthers = ({ role, scopes }: Principal, scope: Scope): boolean =>
  role === 'admin' && scopesAllow(scopes, scope);

/** Whose sessions the request is about; throws 403 for those of others. */
const ownerOf = (principal: Principal, userId: string | undefined, scope: Scope): SessionOwner => {
  if (userId === undefined) return { principalId: principal.id };
  const own = principal.kind === 'person' && principal.id === userId;
  if (own || managesOthers(principal, scope)) return { userId };
  throw new ApiError(
    'forbidden',
    `The sessions of others require the role admin and, for a key with scopes, the scope ${scope}.`,
  );
};

export interface SessionRouteParts extends MeParts {
  db: Database;
  cookies: Cookies;
  sessions: Sessions;
  authenticator: Authenticator;
  provider: IdentityProvider | null;
}

/** Throws 403 if the browser says that the request comes from another site. */
const checkOwnPage = ({ headers, ownPage }: CallerRequest, authenticator: Authenticator): void => {
  const says = headers['sec-fetch-site'] !== undefined || headers.origin !== undefined;
  if (says && !ownPage()) throw authenticator.refuseCrossSite();
};

export const sessionRoutes = (parts: SessionRouteParts): Route[] => {
  const { db, settings, cookies, sessions, authenticator, provider } = parts;
  const findAny = finder(db, 'session', 'session_id', (executor, id) =>
    findSession(executor, id, settings.get()),
  );
  return [
    signInRoute({
      id: 'createSession',
      request: 'POST /sessions',
      summary: 'Create a session',
      description:
        'Signs in with an API key. The session acts as the key and ends with it; the session that the browser had ends. Requests from other sites are refused.',
      checksCredential: true,
      checkOrigin: (request) => checkOwnPage(request, authenticator),
      body: { schema: createBody, largest: 4 * 1024 },
      otherStatuses: [401, 403],
      response: me,
      handler: async ({ body, actor, headers, transaction, limitRate, header }) => {
        const client = { ip: () => actor.ip!, userAgent: actor.userAgent };
        const principal = await authenticator.authenticateKey(body.api_key, client);
        limitRate(principal);
        const hash = sha256(body.api_key);
        const bootstrapHash = authenticator.isBootstrapHash(hash) ? hash : null;
        const endValue = cookies.read(headers.cookie, sessionCookie);
        const created = await transaction((tx) =>
          sessions.create(tx, actor, { method: 'api_key', principal, bootstrapHash, endValue }),
        );
        sessions.onChange();
        header('set-cookie', cookies.set(sessionCookie, created.value));
        return db.run((executor) => findMe(executor, created.principal, parts));
      },
    }),
    jsonRoute({
      id: 'listSessions',
      role: 'member',
      scope: null,
      base: 'app',
      request: 'GET /sessions',
      summary: 'List sessions',
      description: 'Returns your own sessions, or for an admin those of a person (scope `access:read`).',
      cache: 'never',
      query: pageQuery.extend(ownerQuery.shape),
      otherStatuses: [403],
      response: pageOf('SessionPage', session),
      handler: listPage(
        db,
        (executor, { user_id, ...page }, { principal }) =>
          listSessions(executor, ownerOf(principal, user_id, 'access:read'), settings.get(), page),
        (row, { principal }) => toSession(row, settings.get(), principal.sessionId),
      ),
    }),
    jsonRoute({
      id: 'deleteSession',
      role: 'member',
      scope: null,
      base: 'app',
      request: 'DELETE /sessions/{session_id}',
      summary: 'End a session',
      description: 'One of your own, or for an admin any (scope `access`).',
      cache: 'never',
      find: async ({ params, principal }) => {
        const found = await findAny({ params });
        const own = found.principal_id === principal.id;
        if (!own && !managesOthers(principal, 'access')) throw notFound('session');
        return found;
      },
      handler: async ({ found, actor, transaction }) => {
        await transaction(async (tx) => {
          const ended = await sessions.endOf(tx, actor, { id: found.id }, 'revoked');
          if (ended === 0) throw notFound('session');
        });
        sessions.onChange();
      },
    }),
    jsonRoute({
      id: 'deleteSessions',
      role: 'member',
      scope: null,
      base: 'app',
      request: 'DELETE /sessions',
      summary: 'End sessions',
      description: 'Ends all your sessions, or for an admin those of a person (scope `access`).',
      cache: 'never',
      query: deleteQuery,
      otherStatuses: [403],
      handler: async ({ query, actor, principal, transaction }) => {
        const owner = ownerOf(principal, query.user_id, 'access');
        const except = query.keep_current === 'true' ? principal.sessionId : null;
        await transaction((tx) => sessions.endOf(tx, actor, { owner, except }, 'revoked'));
        sessions.onChange();
      },
    }),
    jsonRoute({
      id: 'signOut',
      role: 'member',
      scope: null,
      base: 'app',
      request: 'POST /sign-out',
      summary: 'Sign out',
      description:
        'Ends the session of the request and clears its cookie. With an API key there is no session to end: the response is the same, and nothing changes.',
      cache: 'never',
      response: signedOut,
      handler: async ({ actor, principal, transaction, header }) => {
        const { sessionId: id } = principal;
        header('set-cookie', cookies.clear(sessionCookie));
        if (id === null) return { redirect_url: null };
        const [ended] = await transaction((tx) => sessions.end(tx, actor, { id }, 'sign_out'));
        sessions.onChange();
        if (!ended || !provider) return { redirect_url: null };
        const { refresh_token, id_token } = ended;
        // The response does not wait for the provider.
        if (refresh_token !== null) void provider.revoke(sessions.open(refresh_token, 'refresh_token', id));
        const url =
          id_token === null ? null : provider.endSessionUrl(sessions.open(id_token, 'id_token', id));
        return { redirect_url: url };
      },
    }),
    jsonRoute({
      id: 'getMe',
      role: 'member',
      scope: null,
      base: 'app',
      request: 'GET /me',
      summary: 'Get who you are',
      description:
        'The principal, the person and the session of the request, and the operations that it may call.',
      cache: 'never',
      response: me,
      handler: ({ principal }) => db.run((executor) => findMe(executor, principal, parts)),
    }),
  ];
};
