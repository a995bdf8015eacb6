import { z } from 'zod';
import { text } from '../../http/index.ts';
import { type Fault, unprocessable } from '../../lib/errors.ts';
import { isObject } from '../../lib/objects.ts';
import { checkTimes, type Schedules, scheduleDefinition } from '../../schedules/index.ts';
import type { Item, Kind, Outlook } from './kind.ts';
import { faultsIn, readBody } from './read.ts';

type Row = Awaited<ReturnType<Schedules['rules']['list']>>[number];

/** Where the key of a schedule is stored. */
const keyField = 'workspace_key';
const maxKey = 200;

const storedKey = ({ metadata }: Pick<Row, 'metadata'>): string | undefined => {
  const key = metadata[keyField];
  return typeof key === 'string' && key !== '' && [...key].length <= maxKey ? key : undefined;
};

/**
 * The keys of the schedules of one agent, the oldest first: the stored one, else the name of the Work Items, else its
 * place among all. One that another has already gets a number.
 */
export const keysOf = (rows: readonly Pick<Row, 'metadata' | 'work_item_name'>[]): string[] => {
  const taken = new Set(rows.flatMap((row) => storedKey(row) ?? []));
  return rows.map((row, i) => {
    const stored = storedKey(row);
    if (stored !== undefined) return stored;
    const start = row.work_item_name || `schedule-${i + 1}`;
    let key = start;
    for (let n = 2; taken.has(key); n++) key = `${start}-${n}`;
    taken.add(key);
    return key;
  });
};

/** A schedule of a document: what a schedule over the API has, and its key. */
const schema = scheduleDefinition.extend({
  key: text(maxKey, 1),
  enabled: z
    .boolean()
    .nullish()
    .transform((enabled) => enabled ?? true),
});

const itemOf = (agent: string, key: string, row: Row): Item => {
  const { [keyField]: _, ...metadata } = row.metadata;
  return {
    agent,
    key,
    cron_expression: row.cron_expression,
    timezone: row.timezone,
    enabled: row.enabled,
    catch_up: row.catch_up,
    overlap: row.overlap,
    work_item_name: row.work_item_name,
    message: row.message,
    payload: row.payload,
    // What is no key of ours is ordinary metadata.
    metadata: storedKey(row) === undefined ? row.metadata : metadata,
  };
};

const definitionOf = ({ agent: _, key, enabled: __, metadata, ...definition }: Item) =>
  scheduleDefinition.parse({ ...definition, metadata: { ...(metadata as Item), [keyField]: key } });

const payloadFault = ({ payload }: Item, { settings }: Outlook): Fault[] => {
  const kb = settings.MAX_WORK_ITEM_PAYLOAD_SIZE_IN_KB;
  const bytes = Buffer.byteLength(JSON.stringify(payload));
  if (bytes <= kb * 1_024) return [];
  return [{ path: 'payload', message: `has ${bytes} bytes as JSON; the maximum is ${kb} KB` }];
};

/** Schedules. The name of one is that of its agent, a slash, and its key. */
export const scheduleKind = ({ rules }: Schedules): Kind => ({
  kind: 'schedule',
  key: 'agents',
  secrets: {},
  defaults: {
    catch_up: true,
    overlap: 'queue',
    work_item_name: null,
    message: '',
    payload: {},
    metadata: {},
  },
  namedBy: ['agent', 'key'],
  nameOf: ({ agent, key }) => `${agent}/${key}`,
  keyOf: ({ agent, key }) => JSON.stringify([agent, key]),
  list: async (executor, names) => {
    const agents = names('agent');
    const byAgent = Map.groupBy(await rules.list(executor), (row) => row.agent_id);
    return [...byAgent].flatMap(([agentId, rows]) => {
      const keys = keysOf(rows);
      const agent = agents.get(agentId) ?? '';
      return rows.map((row, i) => {
        const item = itemOf(agent, keys[i]!, row);
        return { id: row.id, name: `${agent}/${keys[i]}`, item, keyIsStored: storedKey(row) !== undefined };
      });
    });
  },
  toDocument: ({ agent: _, ...item }) => item,
  read: ({ agent, ...given }) => {
    let read: Item = {};
    const faults = [
      ...faultsIn(() => {
        read = readBody(schema, given) as Item;
      }),
      ...faultsIn(() => checkTimes(given)),
    ];
    if (isObject(given.metadata) && Object.hasOwn(given.metadata, keyField)) {
      faults.push({ path: `metadata.${keyField}`, message: 'is set by `key`; leave it out' });
    }
    if (faults.length > 0) throw unprocessable(faults);
    const { key, cron_expression, timezone, enabled, ...rest } = read;
    return { agent, key, cron_expression, timezone, enabled, ...rest };
  },
  references: ({ agent }) => [{ path: '', kind: 'agent', name: String(agent), weak: true }],
  check: (item, outlook) => {
    const agent = outlook.item('agent', String(item.agent));
    const worker =
      !agent || agent.mode === 'worker'
        ? []
        : [{ path: '', message: 'Schedules can only be created for worker agents.' }];
    return [...worker, ...payloadFault(item, outlook)];
  },
  create: async (run, item) => {
    const agentId = run.idOf('agent', String(item.agent));
    const { id } = await rules.create(run.tx, run.actor, agentId, definitionOf(item));
    if (item.enabled === false) await rules.pause(run.tx, run.actor, id);
    return id;
  },
  update: async ({ tx, actor }, found, item, changed) => {
    if (changed.has('enabled') && item.enabled === false) await rules.pause(tx, actor, found.id);
    const onlySwitched = changed.size === 1 && changed.has('enabled');
    if (!onlySwitched) await rules.replace(tx, actor, found.id, definitionOf(item));
    if (changed.has('enabled') && item.enabled === true) await rules.resume(tx, actor, found.id);
  },
  remove: ({ tx, actor }, { id }) => rules.delete(tx, actor, id),
});
