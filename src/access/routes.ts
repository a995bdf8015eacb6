import { z } from 'zod';
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
import { badRequest, notFound } from '../lib/errors.ts';
import { type Principal, roles } from '../lib/principal.ts';
import { createApiKey, deleteApiKey, mayManage } from './api-keys.ts';
import type { Authenticator } from './keys.ts';
import { findKey, listKeys } from './store.ts';

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
      handler: ({ body, actor, transaction }) => transaction((tx) => createApiKey(tx, actor, body)),
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
        await transaction((tx) => deleteApiKey(tx, actor, found));
        authenticator.invalidate();
      },
    }),
  ];
};
