import { z } from 'zod';
import { unprocessable } from '../../lib/errors.ts';
import { defaultsOf, required } from '../../resource/index.ts';
import {
  createToolServerBody,
  policies,
  type ToolServers,
  type ToolUse,
  toolServers,
  updateToolServerBody,
} from '../../tool-servers/index.ts';
import { withoutEmptyMaps } from '../paths.ts';
import type { Found, Item, Kind, Run } from './kind.ts';
import { asRead, faultsIn, inside, readBody } from './read.ts';
import { resourceKind } from './resource-kind.ts';

const placeholder = 'a-secret-that-is-not-known-yet';
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

/** Fields that never change, and that a document may leave out. */
const checkStays = (item: Item, found: Found | undefined): void => {
  const faults = ['prefix', 'transport']
    .filter((field) => found && item[field] !== found.item[field])
    .map((field) => ({ path: field, message: `cannot be changed; it is ${found!.item[field]}` }));
  if (faults.length > 0) throw unprocessable(faults);
};

export const toolServerKind = ({ rules }: ToolServers): Kind => {
  const setTools = ({ tx, actor }: Run, id: string, { tools }: Item) =>
    rules.setToolUses(tx, actor, id, new Map(Object.entries(tools as Record<string, ToolUse>)));
  const kind = resourceKind({
    kind: 'tool_server',
    key: 'tool_servers',
    fields: { name: required(z.string()) },
    body: createToolServerBody,
    patch: updateToolServerBody,
    secrets: {
      'headers.*': placeholder,
      'env.*': placeholder,
      'oauth.client_secret': placeholder,
    },
    defaults: { transport: 'http', ...defaultsOf(toolServers.fields), args: [], tools: {} },
    list: async (executor) =>
      (await rules.list(executor)).map(({ row, settings, tools }) => ({
        id: row.id,
        name: row.name,
        item: {
          ...withoutEmptyMaps(
            asRead(createToolServerBody, { ...toolServers.write(row), prefix: row.prefix, ...settings }),
          ),
          tools: Object.fromEntries(Object.entries(tools).sort(([a], [b]) => (a < b ? -1 : 1))),
        },
      })),
    toDocument: ({ name, prefix, transport, tools, ...item }) => ({
      name,
      prefix,
      ...(transport === undefined ? {} : { transport }),
      ...item,
      ...(tools === undefined ? {} : { tools: shownTools(tools) }),
    }),
    complete: (_item, body) => withoutEmptyMaps({ ...body }),
    address: ({ url, command, oauth }) => [url, command, (oauth as Item | undefined)?.issuer],
    create: (run, body) => rules.create(run.tx, run.actor, body),
    update: ({ tx, actor }, id, changes) => {
      const oauth = changes.oauth && { scope: null, ...changes.oauth };
      return rules.update(tx, actor, id, oauth ? { ...changes, oauth } : changes);
    },
    remove: async (run, { id }) => {
      // Its prefix is free for one that the document creates; agents are looked at when they are changed.
      await rules.delete(run.tx, run.actor, id);
      run.atEnd(() => rules.checkUnused(run.tx, id));
    },
  });
  return {
    ...kind,
    read: ({ tools: givenTools, ...given }, found) => {
      // The default of a prefix depends on which are taken, so one that a document leaves out stays.
      const prefix = given.prefix ?? found?.item.prefix;
      let tools: Item = {};
      let server: Item = {};
      const faults = [
        ...faultsIn(() => {
          server = kind.read(prefix === undefined ? given : { ...given, prefix }, found);
        }),
        ...faultsIn(() => {
          tools = readTools(givenTools);
        }),
      ];
      if (faults.length > 0)
        throw unprocessable(faults.map((one) => ({ ...one, path: inside('', one.path) })));
      checkStays(server, found);
      return { ...server, tools };
    },
    create: async (run, { tools, ...server }) => {
      const id = await kind.create(run, server);
      await setTools(run, id, { tools });
      run.afterwards(`discover ${id}`, () => rules.discover(id));
      return id;
    },
    update: async (run, found, item, changed) => {
      const { tools, ...server } = item;
      const fields = new Set(changed);
      fields.delete('tools');
      if (fields.size > 0) await kind.update(run, found, server, fields);
      if (changed.has('tools')) await setTools(run, found.id, { tools });
    },
  };
};
