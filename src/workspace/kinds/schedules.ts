import { z } from 'zod';
import { text } from '../../http/index.ts';
import { type Fault, unprocessable } from '../../lib/errors.ts';
import { isObject } from '../../lib/objects.ts';
import { defaultsOf, required, withDefault } from '../../resource/index.ts';
import { checkTimes, type Schedules, scheduleDefinition, scheduleFields } from '../../schedules/index.ts';
import { requireAll } from '../faults.ts';
import type { Item, Kind } from '../kind.ts';
import { resourceKind } from '../resource-kind.ts';
import { keyField, keysOf, maxKey, storedKey } from '../schedule-keys.ts';

const { cron_expression, timezone, ...others } = scheduleFields;
/** In the order of a document. `agent` is in none: it is the agent that has the schedule. */
const fields = {
  agent: required(z.unknown()),
  key: required(text(maxKey, 1)),
  cron_expression,
  timezone,
  enabled: withDefault(z.boolean(), true),
  ...others,
};

const { agent, key, enabled } = fields;
const body = scheduleDefinition.extend({
  agent: agent.create.optional(),
  key: key.create,
  enabled: enabled.create,
});

/** The definition of an item, whose key is stored in its metadata. */
const definitionOf = ({ metadata, key, ...item }: z.output<typeof body>) =>
  scheduleDefinition.parse({ ...item, metadata: { ...metadata, [keyField]: key } });

const checkMetadata = ({ metadata }: Item): void => {
  if (!isObject(metadata) || !Object.hasOwn(metadata, keyField)) return;
  throw unprocessable([{ path: `metadata.${keyField}`, message: 'is set by `key`; leave it out' }]);
};

const payloadFaults = ({ payload }: Item, kb: number): Fault[] => {
  const bytes = Buffer.byteLength(JSON.stringify(payload));
  if (bytes <= kb * 1_024) return [];
  return [{ path: 'payload', message: `has ${bytes} bytes as JSON; the maximum is ${kb} KB` }];
};

/** Schedules. The name of one is that of its agent, a slash, and its key. */
export const scheduleKind = (schedules: Schedules): Kind =>
  resourceKind({
    kind: 'schedule',
    key: 'agents',
    fields,
    body,
    defaults: defaultsOf(others),
    namedBy: ['agent', 'key'],
    nameOf: ({ agent, key }) => `${agent}/${key}`,
    list: async (executor, names) => {
      const byAgent = Map.groupBy(await schedules.list(executor), (row) => row.agent_id);
      return [...byAgent].flatMap(([agentId, rows]) => {
        const keys = keysOf(rows);
        const agent = names('agent').get(agentId) ?? '';
        return rows.map((row, i) => {
          const keyIsStored = storedKey(row) !== undefined;
          const { [keyField]: _, ...metadata } = row.metadata;
          const values = {
            ...row,
            agent,
            key: keys[i],
            // Another value is ordinary metadata.
            metadata: keyIsStored ? metadata : row.metadata,
          };
          return { id: row.id, values, keyIsStored };
        });
      });
    },
    toDocument: ({ agent: _, ...item }) => item,
    checkGiven: (given) =>
      requireAll(
        () => checkTimes(given),
        () => checkMetadata(given),
      ),
    references: ({ agent }) => [{ path: '', kind: 'agent', name: String(agent), weak: true }],
    check: (item, settings) => payloadFaults(item, settings.MAX_WORK_ITEM_PAYLOAD_SIZE_IN_KB),
    create: async (run, body, { agent }) => {
      const agentId = run.idOf('agent', String(agent));
      const row = await schedules.create(run.tx, run.actor, agentId, definitionOf(body));
      if (!body.enabled) await schedules.pause(run.tx, run.actor, row.id);
      return row;
    },
    update: async ({ tx, actor }, id, body, _item, changed) => {
      if (changed.has('enabled') && !body.enabled) await schedules.pause(tx, actor, id);
      if ([...changed].some((field) => field !== 'enabled')) {
        await schedules.replace(tx, actor, id, definitionOf(body));
      }
      if (changed.has('enabled') && body.enabled) await schedules.resume(tx, actor, id);
    },
    remove: ({ tx, actor }, { id }) => schedules.delete(tx, actor, id),
  });
