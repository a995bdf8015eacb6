import { z } from 'zod';
import { mapValues } from '../../lib/objects.ts';
import { policies, type ToolServers, type ToolUse, toolServerForm } from '../../tool-servers/index.ts';
import { asRead, readBody } from '../bodies.ts';
import type { Kind } from '../kind.ts';
import { byFeature, resourceKind } from '../resource-kind.ts';

const policy = z.enum(policies);
/** A policy, or with it whether a call without an answer is repeated. */
const use = z.union([policy, z.object({ policy: policy.nullish(), idempotent: z.boolean().nullish() })]);
const usesBody = z.object({ tools: z.record(z.string().min(1).max(1_000), use).nullish() });

type Uses = Record<string, ToolUse>;

/** In the order of the names, without those that say nothing. */
const sorted = (uses: Uses): Uses =>
  Object.fromEntries(
    Object.entries(uses)
      .filter(([, { policy, idempotent }]) => policy !== null || idempotent !== null)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );

const readUses = (tools: unknown): Uses =>
  sorted(
    mapValues(readBody(usesBody, { tools }).tools ?? {}, (one) =>
      typeof one === 'string'
        ? { policy: one, idempotent: null }
        : { policy: one.policy ?? null, idempotent: one.idempotent ?? null },
    ),
  );

const shownUse = ({ policy, idempotent }: ToolUse) => {
  if (idempotent === null) return policy;
  return policy === null ? { idempotent } : { policy, idempotent };
};

export const toolServerKind = (toolServers: ToolServers): Kind =>
  resourceKind({
    ...byFeature(toolServers),
    ...toolServerForm,
    kind: 'tool_server',
    key: 'tool_servers',
    list: async (executor) =>
      (await toolServers.list(executor)).map(({ id, tools, ...stored }) => ({
        id,
        values: { ...asRead(toolServerForm.body, stored), tools },
      })),
    toDocument: ({ tools, ...item }) =>
      tools === undefined ? item : { ...item, tools: mapValues(tools as Uses, shownUse) },
    // The default of a prefix depends on which are taken, so one that a document leaves out stays.
    prepare: (given, found) => ({ ...given, prefix: given.prefix ?? found?.item.prefix }),
    complete: (item, body) => ({ ...item, ...body }),
    create: async (run, body) => {
      const { id } = await toolServers.create(run.tx, run.actor, body);
      run.afterwards(`discover ${id}`, () => toolServers.discover(id));
      return { id };
    },
    update: ({ tx, actor }, id, changes) => {
      const oauth = changes.oauth && { scope: null, ...changes.oauth };
      return toolServers.update(tx, actor, id, oauth ? { ...changes, oauth } : changes);
    },
    remove: async (run, { id }) => {
      // Its prefix is free for one that the document creates; agents are looked at when they are changed.
      await toolServers.delete(run.tx, run.actor, id);
      run.atEnd(() => toolServers.checkUnused(run.tx, id));
    },
    part: {
      name: 'tools',
      read: readUses,
      fromStored: (stored) => sorted(stored as Uses),
      write: ({ tx, actor }, id, uses) =>
        toolServers.setToolUses(tx, actor, id, new Map(Object.entries(uses as Uses))),
    },
  });
