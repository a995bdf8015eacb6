import { z } from 'zod';
import type { Database, Executor } from '../../database/index.ts';
import {
  finder,
  id,
  jsonRoute,
  listPage,
  optional,
  pageOf,
  pageQuery,
  type Route,
  text,
  timestamp,
} from '../../http/index.ts';
import { badRequest, notFound } from '../../lib/errors.ts';
import { type Principal, roles, scopes } from '../../lib/principal.ts';
import type { CurrentSettings } from '../../settings/index.ts';
import { afterDeletion, deletedWithKeys, endMadeKeysQuery } from '../people/ended-keys.ts';
import { checkMayRotate, createApiKey, deleteApiKey, mayManage, rotateApiKey } from './api-keys.ts';
import { keyStatus } from './key-principal.ts';
import { principalNames } from './names.ts';
import { findKey, type Key, listKeys } from './store.ts';

const kind = z.enum(['service_account', 'personal']);
const status = z.enum(['active', 'paused', 'expired']);

const publicKey = z
  .object({
    id,
    name: z.string(),
    kind,
    role: z
      .enum(roles)
      .nullable()
      .describe(
        'The role that the key acts with. A personal key has the current role of its person, and no key of a person has more: null while the person has no access.',
      ),
    user_id: id.nullable().describe('The person of a personal key.'),
    owner: z
      .object({
        kind: z.enum(['person', 'workspace']),
        id: id.nullable().describe('The person; null for the workspace.'),
        name: z.string().nullable().describe('The name of the person; null for the workspace.'),
      })
      .meta({ id: 'ApiKeyOwner' })
      .describe(
        'Whom the key belongs to. A person’s keys pause while the person has no access, are never stronger than the person’s role, and are deleted with the person.',
      ),
    scopes: z
      .array(z.enum(scopes))
      .nullable()
      .describe('What the key is limited to. null: all that its role allows.'),
    status: status.describe(
      '`paused`: the key is refused until its person has access; a personal key also until its person was confirmed recently.',
    ),
    prefix: z.string().describe('The first characters of the value, by which people recognise the key.'),
    created_by: z.string(),
    created_at: timestamp,
    last_used_at: timestamp.nullable().describe('Exact to a minute.'),
    last_used_ip: z.string().nullable().describe('The address of the client at `last_used_at`.'),
    expires_at: timestamp.nullable(),
    replaced_by: id.nullable().describe('The key that a rotation made in place of this one.'),
  })
  .meta({ id: 'ApiKey' });

const createdApiKey = publicKey
  .extend({ value: z.string().describe('The key itself. It is shown only once.') })
  .meta({ id: 'CreatedApiKey' });

const expiresAt = z.iso.datetime({ offset: true });

const createBody = z
  .object({
    name: text(200, 1),
    role: optional(z.enum(roles)).describe(
      'The role of a service account’s key; required for it. Not allowed with `kind: personal`.',
    ),
    kind: optional(kind).describe('Default `service_account`.'),
    owner: optional(z.literal('workspace')).describe(
      '`workspace`: the key belongs to the workspace and stays when its maker goes; only an administrator without scopes may ask for it. Default: it belongs to whom your own key belongs to, or to you.',
    ),
    scopes: optional(
      z
        .array(z.enum(scopes))
        .min(1)
        .max(scopes.length)
        .transform((list) => [...new Set(list)]),
    ).describe(
      'What the key is limited to, such as `["telemetry"]`. `x` contains `x:read`. Default: all that its role allows.',
    ),
    expires_at: optional(expiresAt).describe(
      'In the future, and not later than your own key expires. Required if your own key expires or MAX_API_KEY_DAYS is set. Default: never.',
    ),
  })
  .meta({ id: 'CreateApiKeyBody' });

const rotateBody = z
  .object({
    overlap_seconds: optional(z.int().min(0).max(604_800), 86_400).describe(
      'For how many seconds the old key still works; at most until its own end.',
    ),
    expires_at: optional(expiresAt).describe(
      'When the new key expires. Default: it lives as long as the old one was made to live.',
    ),
  })
  .meta({ id: 'RotateApiKeyBody' });

const filter = z.object({
  kind: kind.optional(),
  user_id: z.string().optional().describe('Only the keys of this person.'),
  created_by: z.string().optional().describe('Only keys that this principal created; it may be gone.'),
  owner: z
    .string()
    .optional()
    .describe('Only the keys that belong to this person; `workspace`: to the workspace.'),
  made_by: z
    .string()
    .optional()
    .describe(
      'Only the keys that `end_made_keys` would end with this person or this key, also those that such keys made. Of a person these are keys of the workspace, and keys of others that the person rotated.',
    ),
  status: status.optional(),
});

const namedKey = publicKey
  .extend({
    created_by_name: z.string().nullable().describe('Null if who created it is gone.'),
    user_name: z.string().nullable().describe('The person of a personal key.'),
  })
  .meta({ id: 'NamedApiKey' });

/** The keys with the names of those who created them. */
const withNames = async <K extends Key>(executor: Executor, keys: readonly K[]) => {
  const names = await principalNames(
    executor,
    keys.map((key) => key.created_by),
  );
  return keys.map((key) => ({
    ...key,
    created_by_name: names.get(key.created_by) ?? null,
    user_name: key.kind === 'personal' ? key.owner_name : null,
  }));
};

/** Whose keys the principal sees; null: everyone's. */
const managerOf = (principal: Principal): Principal | null => (principal.role === 'admin' ? null : principal);

/** `invalidate` empties what this replica has cached of keys. */
export const apiKeyRoutes = (
  { db, settings }: { db: Database; settings: CurrentSettings },
  invalidate: () => void,
): Route[] => {
  const confirmationDays = () => settings.get().PERSONAL_KEY_CONFIRMATION_DAYS;
  const toResponse = <K extends Key>(key: K) => ({
    ...key,
    status: keyStatus(key, confirmationDays()),
    owner: { kind: key.owner, id: key.owner_user_id, name: key.owner_name },
  });

  const findById = finder(db, 'API key', 'api_key_id', findKey);
  const find = async ({ params, principal }: { params: Record<string, string>; principal: Principal }) => {
    const { keyId, sessionId } = principal;
    const self = params.api_key_id === 'self' && sessionId === null && keyId !== null;
    const key = await findById({ params: self ? { api_key_id: keyId } : params });
    if (!mayManage(principal, key)) throw notFound('API key');
    return key;
  };
  const self = 'The id `self` is the key of the request.';
  return [
    jsonRoute({
      id: 'listApiKeys',
      role: 'member',
      scope: 'access:read',
      request: 'GET /api-keys',
      summary: 'List API keys',
      description:
        'Returns the keys that you created and those that belong to you, and with `made_by` all that would end with a key that you may delete. An admin gets all keys.',
      query: pageQuery.extend(filter.shape),
      response: pageOf('ApiKeyPage', publicKey),
      cache: 'never',
      handler: listPage(
        db,
        (executor: Executor, query, { principal }) =>
          listKeys(executor, managerOf(principal), query, confirmationDays()),
        toResponse,
      ),
    }),
    jsonRoute({
      id: 'listNamedApiKeys',
      role: 'member',
      scope: 'access:read',
      base: 'app',
      request: 'GET /api-keys',
      summary: 'List API keys with the names of people',
      description: 'As the list of the API, with the names of those who created the keys and use them.',
      query: pageQuery.extend({
        ...filter.shape,
        q: text(200).optional().describe('A part of the name, or the first characters of the value.'),
      }),
      response: pageOf('NamedApiKeyPage', namedKey),
      cache: 'never',
      handler: listPage(
        db,
        async (executor: Executor, query, { principal }) =>
          withNames(executor, await listKeys(executor, managerOf(principal), query, confirmationDays())),
        toResponse,
      ),
    }),
    jsonRoute({
      id: 'createApiKey',
      role: 'member',
      scope: 'access',
      request: 'POST /api-keys',
      summary: 'Create an API key',
      description:
        'The value is shown only once; a repeated request with the same `Idempotency-Key` gets it again for 24 h. A service account’s key has the given `role`, which must not be above your own. A key with `kind: personal` has your role. How many keys a member or a builder may have is limited (MAX_API_KEYS_PER_PERSON, MAX_API_KEYS_PER_BUILDER). A key cannot have more scopes or a longer life than the key that creates it.',
      body: {
        schema: createBody,
        precheck: ({ kind, role }) => {
          if (kind !== 'personal' && (role === undefined || role === null)) {
            throw badRequest('role: is required for a key of a service account');
          }
        },
      },
      response: { 201: createdApiKey },
      idempotent: true,
      cache: 'never',
      handler: async ({ body, actor, transaction }) =>
        transaction(async (tx) => toResponse(await createApiKey(tx, actor, body))),
    }),
    jsonRoute({
      id: 'getApiKey',
      role: 'member',
      scope: 'access:read',
      request: 'GET /api-keys/{api_key_id}',
      summary: 'Get an API key',
      description: `The response does not contain its value. ${self}`,
      find,
      response: publicKey,
      cache: 'never',
      handler: async ({ found }) => toResponse(found),
    }),
    jsonRoute({
      id: 'rotateApiKey',
      role: 'member',
      scope: 'access',
      request: 'POST /api-keys/{api_key_id}/rotate',
      summary: 'Rotate an API key',
      description: `Creates a key with the same name, kind, role, scopes, owner and maker, and ends the old one after an overlap. Requires at least the role and the scopes of the key. Only its person rotates a personal key. Who rotates a key of others learns its value, so that it ends with them like the keys that they made. No rotation passes the end that the first key was made with. A key that was rotated or has expired is 412; a repeated request with the same \`Idempotency-Key\` gets the new value again for 24 h. ${self}`,
      find: async (request) => {
        const key = await find(request);
        checkMayRotate(request.principal, key);
        return key;
      },
      body: { schema: rotateBody, optional: true },
      response: { 201: createdApiKey },
      idempotent: true,
      cache: 'never',
      otherStatuses: [412],
      handler: async ({ found, body, actor, transaction }) => {
        const made = await transaction(async (tx) =>
          toResponse(await rotateApiKey(tx, actor, found.id, body)),
        );
        invalidate();
        return made;
      },
    }),
    jsonRoute({
      id: 'deleteApiKey',
      role: 'member',
      scope: 'access',
      request: 'DELETE /api-keys/{api_key_id}',
      summary: 'Delete an API key',
      description: `Requests with it are refused at once. The keys that it made, and that those made, end with it, unless a rotation replaced it: then its replacement has them. \`end_made_keys\` decides it either way; \`GET /api-keys?made_by=\` lists them. The response is a 204, or, if \`end_made_keys\` is given or such keys ended, a 200 with \`ended_keys\`. ${self}`,
      find,
      query: z.object({
        end_made_keys: endMadeKeysQuery.describe(
          'Whether the keys that it made end, too. Default: true, unless a rotation replaced the key.',
        ),
      }),
      response: deletedWithKeys.nullable(),
      cache: 'never',
      handler: async ({ found, query, actor, transaction }) => {
        const ended = await transaction((tx) => deleteApiKey(tx, actor, found, query.end_made_keys));
        invalidate();
        return afterDeletion(ended, query.end_made_keys);
      },
    }),
  ];
};
