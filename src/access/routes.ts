import { z } from 'zod';
import { audit } from '../audit/index.ts';
import type { Database } from '../database/index.ts';
import {
  id,
  optional,
  pageOf,
  pageQuery,
  type Route,
  readCursor,
  route,
  text,
  timestamp,
  toPage,
} from '../http/index.ts';
import { fingerprint, sha256 } from '../lib/crypto.ts';
import { ApiError, badRequest, notFound, unprocessable } from '../lib/errors.ts';
import { isId, newId } from '../lib/ids.ts';
import { type Principal, roleAllows, roles } from '../lib/principal.ts';
import { keyPrefix, newKeyValue } from './key-format.ts';
import { Authenticator } from './keys.ts';
import { deleteKey, findKey, insertKey, listKeys, type ShownKey } from './store.ts';

const apiKey = z
  .object({
    id,
    name: z.string(),
    kind: z.enum(['service_account', 'personal']),
    role: z.enum(roles).describe('The role it acts with; of a personal key its person’s current one.'),
    prefix: z.string().describe('The first characters of the value, to recognise it by.'),
    created_by: z.string(),
    created_at: timestamp,
    last_used_at: timestamp.nullable(),
    expires_at: timestamp.nullable(),
  })
  .meta({ id: 'ApiKey' });

const createdApiKey = apiKey
  .extend({ value: z.string().describe('The key itself, shown this once.') })
  .meta({ id: 'CreatedApiKey' });

const createBody = z
  .object({
    name: text(200, 1),
    role: optional(z.enum(roles)).describe(
      'The role of a service account’s key, required for one. Not with `kind: personal`.',
    ),
    kind: optional(z.enum(['service_account', 'personal'])).describe('Default `service_account`.'),
    expires_at: optional(z.iso.datetime({ offset: true })).describe('In the future. Default: never.'),
  })
  .meta({ id: 'CreateApiKeyBody' });

/** Everyone sees and revokes the keys they made; an admin all. */
const mayManage = (principal: Principal, key: ShownKey): boolean =>
  principal.role === 'admin' || key.created_by === principal.id;

export const apiKeyRoutes = (db: Database, authenticator: Authenticator): Route[] => {
  const find = async ({ params, principal }: { params: Record<string, string>; principal: Principal }) => {
    const key = isId(params.api_key_id!) ? await db.run((r) => findKey(r, params.api_key_id!)) : undefined;
    if (!key || !mayManage(principal, key)) throw notFound('API key');
    return key;
  };
  return [
    route({
      id: 'listApiKeys',
      method: 'GET',
      path: '/api-keys',
      tag: 'API keys',
      summary: 'The API keys that you made; an admin sees all',
      query: pageQuery,
      response: pageOf('ApiKeyPage', apiKey),
      handler: async ({ query, principal }) => {
        const madeBy = principal.role === 'admin' ? null : principal.id;
        const page = { limit: query.limit, before: readCursor(query.next) };
        return toPage(await db.run((r) => listKeys(r, madeBy, page)), query.limit, (key) => key);
      },
    }),
    route({
      id: 'createApiKey',
      method: 'POST',
      path: '/api-keys',
      tag: 'API keys',
      summary: 'Make an API key; its value is shown this once',
      description:
        'A key of a service account has `role`, never above your own; `kind: personal` follows your role.',
      body: createBody,
      checkBody: ({ kind, role }) => {
        if (kind !== 'personal' && (role === undefined || role === null)) {
          throw badRequest('role: is required for a key of a service account');
        }
      },
      status: 201,
      response: createdApiKey,
      handler: ({ body, principal, transaction, requestId }) => {
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
          await audit(tx, principal, {
            action: 'api_key.create',
            targetType: 'api_key',
            targetId: key.id,
            details: { name: key.name, kind: key.kind, role: key.role, value: fingerprint(value) },
            requestId,
          });
          return { ...(await findKey(tx, key.id))!, value };
        });
      },
    }),
    route({
      id: 'getApiKey',
      method: 'GET',
      path: '/api-keys/{api_key_id}',
      tag: 'API keys',
      summary: 'One API key, without its value',
      find,
      response: apiKey,
      handler: async ({ found }) => found,
    }),
    route({
      id: 'deleteApiKey',
      method: 'DELETE',
      path: '/api-keys/{api_key_id}',
      tag: 'API keys',
      summary: 'Revoke an API key, at once',
      find,
      status: 204,
      handler: async ({ found, principal, transaction, requestId }) => {
        await transaction(async (tx) => {
          if (!(await deleteKey(tx, found.id))) throw notFound('API key');
          await Authenticator.revoked(tx);
          await audit(tx, principal, {
            action: 'api_key.delete',
            targetType: 'api_key',
            targetId: found.id,
            details: { name: found.name, prefix: found.prefix },
            requestId,
          });
        });
        authenticator.forget();
      },
    }),
  ];
};
