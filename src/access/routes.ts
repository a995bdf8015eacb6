import { z } from 'zod';
import { audit } from '../audit/index.ts';
import type { Database } from '../database/index.ts';
import {
  finder,
  id,
  listPage,
  optional,
  pageOf,
  pageQuery,
  type Route,
  route,
  text,
  timestamp,
} from '../http/index.ts';
import { fingerprint, sha256 } from '../lib/crypto.ts';
import { ApiError, badRequest, notFound, unprocessable } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { type Principal, roleAllows, roles } from '../lib/principal.ts';
import { keyPrefix, newKeyValue } from './key-format.ts';
import { type Authenticator, notifyRevoked } from './keys.ts';
import { deleteKey, findKey, insertKey, listKeys, type ShownKey } from './store.ts';

const apiKey = z
  .object({
    id,
    name: z.string(),
    kind: z.enum(['service_account', 'personal']),
    role: z
      .enum(roles)
      .describe('The role that the key acts with. A personal key has the current role of its person.'),
    prefix: z.string().describe('The first characters of the value, by which people recognise the key.'),
    created_by: z.string(),
    created_at: timestamp,
    last_used_at: timestamp.nullable(),
    expires_at: timestamp.nullable(),
  })
  .meta({ id: 'ApiKey' });

const createdApiKey = apiKey
  .extend({ value: z.string().describe('The key itself. It is shown only once.') })
  .meta({ id: 'CreatedApiKey' });

const createBody = z
  .object({
    name: text(200, 1),
    role: optional(z.enum(roles)).describe(
      'The role of a service account’s key; required for it. Not allowed with `kind: personal`.',
    ),
    kind: optional(z.enum(['service_account', 'personal'])).describe('Default `service_account`.'),
    expires_at: optional(z.iso.datetime({ offset: true })).describe('In the future. Default: never.'),
  })
  .meta({ id: 'CreateApiKeyBody' });

/** Everyone sees and revokes the keys that they created; an admin all keys. */
const mayManage = (principal: Principal, key: ShownKey): boolean =>
  principal.role === 'admin' || key.created_by === principal.id;

export const apiKeyRoutes = (db: Database, authenticator: Authenticator): Route[] => {
  const findAny = finder(db, 'API key', 'api_key_id', findKey);
  const find = async (request: { params: Record<string, string>; principal: Principal }) => {
    const key = await findAny(request);
    if (!mayManage(request.principal, key)) throw notFound('API key');
    return key;
  };
  return [
    route({
      id: 'listApiKeys',
      role: 'member',
      method: 'GET',
      path: '/api-keys',
      summary: 'List API keys',
      description: 'Returns the keys that you created. An admin gets all keys.',
      query: pageQuery,
      response: pageOf('ApiKeyPage', apiKey),
      handler: listPage(db, (executor, page, { principal }) =>
        listKeys(executor, principal.role === 'admin' ? null : principal.id, page),
      ),
    }),
    route({
      id: 'createApiKey',
      role: 'member',
      method: 'POST',
      path: '/api-keys',
      summary: 'Create an API key',
      description:
        'The value is shown only once. A service account’s key has the given `role`, which must not be above your own. A key with `kind: personal` has your role.',
      body: createBody,
      checkBody: ({ kind, role }) => {
        if (kind !== 'personal' && (role === undefined || role === null)) {
          throw badRequest('role: is required for a key of a service account');
        }
      },
      status: 201,
      response: createdApiKey,
      handler: ({ body, principal, actor, transaction }) => {
        const personal = body.kind === 'personal';
        if (personal && body.role !== undefined) {
          throw unprocessable([
            { path: 'role', message: 'a personal key has its person’s role: leave it out' },
          ]);
        }
        if (personal && principal.kind !== 'person') {
          throw unprocessable([{ path: 'kind', message: 'only a person can have a personal key' }]);
        }
        if (!personal && !roleAllows(principal.role, body.role!)) {
          throw new ApiError('forbidden', `Your role is ${principal.role}: a key above it cannot be made.`);
        }
        const expires = body.expires_at === undefined ? null : new Date(body.expires_at);
        if (expires && expires.getTime() <= Date.now()) {
          throw unprocessable([{ path: 'expires_at', message: 'must be in the future' }]);
        }
        const value = newKeyValue();
        const key = {
          id: newId(),
          name: body.name,
          kind: body.kind ?? ('service_account' as const),
          role: personal ? null : body.role!,
          user_id: personal ? principal.id : null,
          value_hash: sha256(value),
          prefix: keyPrefix(value),
          created_by: principal.id,
          expires_at: expires,
        };
        return transaction(async (tx) => {
          await insertKey(tx, key);
          await audit(tx, actor, 'api_key.create', key.id, {
            name: key.name,
            kind: key.kind,
            role: key.role,
            value: fingerprint(value),
          });
          return { ...(await findKey(tx, key.id))!, value };
        });
      },
    }),
    route({
      id: 'getApiKey',
      role: 'member',
      method: 'GET',
      path: '/api-keys/{api_key_id}',
      summary: 'Get an API key',
      description: 'The response does not contain its value.',
      find,
      response: apiKey,
      handler: async ({ found }) => found,
    }),
    route({
      id: 'deleteApiKey',
      role: 'member',
      method: 'DELETE',
      path: '/api-keys/{api_key_id}',
      summary: 'Delete an API key',
      description: 'Requests with it are refused at once.',
      find,
      status: 204,
      handler: async ({ found, actor, transaction }) => {
        await transaction(async (tx) => {
          if (!(await deleteKey(tx, found.id))) throw notFound('API key');
          await notifyRevoked(tx);
          await audit(tx, actor, 'api_key.delete', found.id, { name: found.name, prefix: found.prefix });
        });
        authenticator.invalidate();
      },
    }),
  ];
};
