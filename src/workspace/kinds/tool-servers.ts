import { z } from 'zod';
import { unprocessable } from '../../lib/errors.ts';
import { createToolServerBody, policies, type ToolServers, type ToolUse } from '../../tool-servers/index.ts';
import { isSame } from '../diff.ts';
import { withoutEmptyMaps } from '../paths.ts';
import type { Found, Item, Kind } from './kind.ts';
import { asRead, changesOf, faultsIn, inside, readBody } from './read.ts';

const placeholder = 'a-secret-that-is-not-known-yet';
const secretFields = ['headers', 'oauth', 'env'];

const policy = z.enum(policies);
/** A policy, or with it whether a call without an answer is repeated. */
const use = z.union([policy, z.object({ policy: policy.nullish(), idempotent: z.boolean().nullish() })]);
const toolName = z.string().min(1).max(1_000);

/** Each tool with what is said of it, in order of the names. */
const readTools = (given: unknown): Item => {
  const tools =
    readBody(z.object({ tools: z.record(toolName, use).nullish() }), { tools: given }).tools ?? {};
  return Object.fromEntries(
    Object.entries(tools)
      .map(([name, one]): [string, ToolUse] => [
        name,
        typeof one === 'string'
          ? { policy: one, idempotent: null }
          : { policy: one.policy ?? null, idempotent: one.idempotent ?? null },
      ])
      .filter(([, { policy, idempotent }]) => policy !== null || idempotent !== null)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
};

const shownUse = ({ policy, idempotent }: ToolUse) => {
  if (idempotent === null) return policy;
  return policy === null ? { idempotent } : { policy, idempotent };
};

const shownTools = (tools: unknown) =>
  Object.fromEntries(
    Object.entries(tools as Record<string, ToolUse>).map(([name, one]) => [name, shownUse(one)]),
  );

const address = ({ url, command, oauth }: Item) => [url, command, (oauth as Item | undefined)?.issuer];

/** A field that never changes, and that a document may leave out. */
const stays = (field: string, item: Item, found: Found | undefined) => {
  if (!found || item[field] === found.item[field]) return [];
  return [{ path: field, message: `cannot be changed; it is ${found.item[field]}` }];
};

export const toolServerKind = ({ rules }: ToolServers): Kind => ({
  kind: 'tool_server',
  key: 'tool_servers',
  secrets: {
    'headers.*': placeholder,
    'env.*': placeholder,
    'oauth.client_secret': placeholder,
  },
  defaults: {
    transport: 'http',
    enabled: true,
    default_policy: 'require_approval',
    call_timeout_seconds: 60,
    max_concurrency: 8,
    args: [],
    tools: {},
  },
  nameOf: ({ name }) => String(name),
  list: async (executor) =>
    (await rules.list(executor)).map(({ row, settings, tools }) => {
      const { name, prefix, enabled, default_policy, call_timeout_seconds, max_concurrency } = row;
      const common = { name, prefix, enabled, default_policy, call_timeout_seconds, max_concurrency };
      return {
        id: row.id,
        name,
        item: {
          ...withoutEmptyMaps(asRead(createToolServerBody, { ...common, ...settings })),
          tools: Object.fromEntries(Object.entries(tools).sort(([a], [b]) => (a < b ? -1 : 1))),
        },
      };
    }),
  toDocument: ({ name, prefix, transport, tools, ...item }) => ({
    name,
    prefix,
    ...(transport === undefined ? {} : { transport }),
    ...item,
    ...(tools === undefined ? {} : { tools: shownTools(tools) }),
  }),
  read: ({ tools: givenTools, ...given }, found) => {
    // The default of a prefix depends on which are taken, so one that a document leaves out stays.
    const prefix = given.prefix ?? found?.item.prefix;
    let tools: Item = {};
    let server: Item = {};
    const faults = [
      ...faultsIn(() => {
        server = readBody(createToolServerBody, prefix === undefined ? given : { ...given, prefix }) as Item;
      }),
      ...faultsIn(() => {
        tools = readTools(givenTools);
      }),
    ];
    if (faults.length === 0)
      faults.push(...stays('prefix', server, found), ...stays('transport', server, found));
    if (faults.length > 0) throw unprocessable(faults.map((one) => ({ ...one, path: inside('', one.path) })));
    return { ...withoutEmptyMaps(server), tools };
  },
  address,
  references: () => [],
  create: async (run, { tools, ...server }) => {
    const row = await rules.create(run.tx, run.actor, server as never);
    await rules.setToolUses(
      run.tx,
      run.actor,
      row.id,
      new Map(Object.entries(tools as Record<string, ToolUse>)),
    );
    run.afterwards(`discover ${row.id}`, () => rules.discover(row));
    return row.id;
  },
  update: async ({ tx, actor }, found, { tools, ...server }, changed) => {
    const again = isSame(address(found.item), address(server))
      ? []
      : secretFields.filter((field) => server[field] !== undefined);
    const fields = new Set([...changed, ...again]);
    fields.delete('tools');
    if (fields.size > 0) {
      const changes = changesOf(fields, server);
      const oauth = changes.oauth as Item | null | undefined;
      if (oauth) changes.oauth = { scope: null, ...oauth };
      await rules.update(tx, actor, found.id, changes);
    }
    if (changed.has('tools')) {
      await rules.setToolUses(tx, actor, found.id, new Map(Object.entries(tools as Record<string, ToolUse>)));
    }
  },
  remove: async (run, { id }) => {
    // Its prefix is free for one that the document creates; agents are looked at when they are changed.
    await rules.delete(run.tx, run.actor, id);
    run.atEnd(() => rules.checkUnused(run.tx, id));
  },
});
