import { type Executor, type RawBuilder, sql, type Tx } from '../database/index.ts';
import {
  column,
  generated,
  type RowOf,
  resource,
  stamps,
  type TableOf,
  type ValuesOf,
} from '../resource/index.ts';
import { fields } from './fields.ts';
import type { Kind } from './settings.ts';

/** The channel on which a write notifies of the id of the trigger that it made, changed or deleted. */
export const triggersChannel = 'triggers';

export const triggers = resource('triggers', fields, {
  id: column<string>(),
  agent_id: column<string>(),
  kind: column<Kind>(),
  /** SettingsOf its kind, sealed. */
  settings: column<string>(),
  scheme: column<string | null>(),
  connection_id: column<string | null>(),
  watched_agent_id: column<string | null>(),
  watched_trigger_id: column<string | null>(),
  watched_statuses: column<string[] | null>(),
  enabled: column<boolean>(),
  previous_secret_expires_at: generated<Date | null>(),
  blocked_reason: generated<string | null>(),
  due_at: column<Date | null>(),
  missed_at: generated<Date | null>(),
  ...stamps,
});

/** The fields of a body, with their defaults, without kind and settings. */
export type Fields = ValuesOf<typeof triggers>;

export type TriggerRow = RowOf<typeof triggers> & {
  last_event_at: Date | null;
  /** The previous secret of a webhook is still valid. */
  previous_secret_valid: boolean;
  /** False if what it watches was deleted. */
  watched_exists: boolean;
};

declare module '../database/database.ts' {
  interface Schema {
    triggers: TableOf<typeof triggers> & { bucket_full_at: number | null };
  }
}

/** True for `triggers t` unless what it watches was deleted. */
export const watchedExists = sql<boolean>`((t.watched_trigger_id is null
    or exists (select from triggers watched where watched.id = t.watched_trigger_id))
  and (t.watched_agent_id is null or exists (select from agents watched where watched.id = t.watched_agent_id)))`;

/** The condition of a trigger `t` that receives nothing though it is enabled. */
export const isBlocked = (allowUnsigned: boolean): RawBuilder<boolean> => sql<boolean>`(t.enabled and (
  t.blocked_reason is not null or not ${watchedExists}
  or (t.kind = 'webhook' and t.scheme = 'none' and not ${sql.lit(allowUnsigned)})))`;

export const countBlocked = async (executor: Executor, allowUnsigned: boolean): Promise<number> => {
  const { rows } = await sql<{ n: number }>`
    select count(*)::integer as n from triggers t where ${isBlocked(allowUnsigned)}`.execute(executor);
  return rows[0]!.n;
};

const ownColumns: RawBuilder<unknown> = sql`${sql.join(triggers.columns.map((name) => sql.ref(`t.${name}`)))},
  coalesce(t.previous_secret_expires_at > platform_now(), false) as previous_secret_valid`;

/** The columns of `triggers t` with what a reader needs besides. */
export const columns: RawBuilder<unknown> = sql`${ownColumns},
  (select e.at from trigger_events e where e.trigger_id = t.id order by e.at desc, e.id desc limit 1) as last_event_at,
  ${watchedExists} as watched_exists`;

/** The mode of an agent, with the trigger if it is this agent's; undefined for an unknown agent. */
export const findTriggerOfAgent = async (
  executor: Executor,
  agentId: string,
  triggerId: string,
): Promise<{ mode: 'worker' | 'conversational'; trigger: TriggerRow | null } | undefined> => {
  const { rows } = await sql<{ mode: 'worker' | 'conversational' } & TriggerRow>`
    select a.mode, ${columns} from agents a left join triggers t on t.agent_id = a.id and t.id = ${triggerId}
    where a.id = ${agentId}`.execute(executor);
  if (!rows[0]) return undefined;
  const { mode, ...trigger } = rows[0];
  return { mode, trigger: trigger.id === null ? null : trigger };
};

const findTriggers = async (executor: Executor, ids: readonly string[]): Promise<TriggerRow[]> => {
  const { rows } = await sql<TriggerRow>`
    select ${columns} from triggers t where t.id = any(${ids}::uuid[])`.execute(executor);
  return rows;
};

/** A webhook trigger as a request to it needs it. */
export type Webhook = Omit<TriggerRow, 'last_event_at' | 'watched_exists'>;

/**
 * The webhook triggers with these ids. One id has a statement of its own: a list is planned for its length each time,
 * which takes longer than the reading.
 */
export const findWebhooks = async (executor: Executor, ids: readonly string[]): Promise<Webhook[]> => {
  const isOne = ids.length === 1 ? sql`t.id = ${ids[0]}` : sql`t.id = any(${ids}::uuid[])`;
  const { rows } = await sql<Webhook>`
    select ${ownColumns} from triggers t where ${isOne} and t.kind = 'webhook'`.execute(executor);
  return rows;
};

/** The triggers of an agent, newest first. */
export const listTriggers = async (executor: Executor, agentId: string): Promise<TriggerRow[]> => {
  const { rows } = await sql<TriggerRow>`
    select ${columns} from triggers t where t.agent_id = ${agentId} order by t.id desc`.execute(executor);
  return rows;
};

/** The triggers of all agents, the oldest first. */
export const listAllTriggers = async (executor: Executor): Promise<TriggerRow[]> => {
  const { rows } = await sql<TriggerRow>`select ${columns} from triggers t order by t.id`.execute(executor);
  return rows;
};

/**
 * The trigger, locked until the transaction ends: in the meantime none of its events is stored. The lock is exclusive, so
 * that a change waits for its turn and not for the end of a storm.
 */
export const findLockedTrigger = async (tx: Tx, id: string): Promise<TriggerRow | undefined> => {
  await sql`select from triggers where id = ${id} for no key update`.execute(tx);
  return (await findTriggers(tx, [id]))[0];
};

/** Like `findLockedTrigger`, and no trigger begins to watch it. */
export const findTriggerLockedToDelete = async (tx: Tx, id: string): Promise<TriggerRow | undefined> => {
  await sql`select from triggers where id = ${id} for update`.execute(tx);
  return (await findTriggers(tx, [id]))[0];
};

/** Locks the row so that it is not deleted before the transaction ends. Returns false if there is none. */
export const lockForShare = async (tx: Tx, id: string): Promise<boolean> => {
  const { rows } = await sql`select from triggers where id = ${id} for key share`.execute(tx);
  return rows.length > 0;
};

export const countTriggers = async (tx: Tx, agentId: string): Promise<number> => {
  const { rows } = await sql<{ n: number }>`
    select count(*)::integer as n from triggers where agent_id = ${agentId}`.execute(tx);
  return rows[0]!.n;
};

/** Returns whether another trigger of the agent has the name, in upper or lower case. */
export const isNameTaken = async (
  tx: Tx,
  agentId: string,
  name: string,
  except: string | null,
): Promise<boolean> => {
  const { rows } = await sql`select from triggers
    where agent_id = ${agentId} and lower(name) = lower(${name}) and id is distinct from ${except}::uuid`.execute(
    tx,
  );
  return rows.length > 0;
};

/** The ids of at most `limit` triggers that watch this one. */
export const listWatchers = async (tx: Tx, id: string, limit: number): Promise<string[]> => {
  const { rows } = await sql<{ id: string }>`
    select id from triggers where watched_trigger_id = ${id} and id <> ${id} order by id limit ${limit}`.execute(
    tx,
  );
  return rows.map((row) => row.id);
};

type SettingsColumns = Pick<
  TriggerRow,
  'settings' | 'scheme' | 'connection_id' | 'watched_agent_id' | 'watched_trigger_id' | 'watched_statuses'
>;

/** A trigger that is inserted. `windowSeconds`: after so long without what it watches an absence is due. */
export const insertTrigger = async (
  tx: Tx,
  values: Fields,
  row: SettingsColumns & Pick<TriggerRow, 'id' | 'agent_id' | 'kind' | 'enabled'>,
  windowSeconds: number | null,
): Promise<TriggerRow> => {
  await tx
    .insertInto('triggers')
    .values({ ...triggers.write(values), ...row, due_at: dueIn(windowSeconds), bucket_full_at: null })
    .execute();
  return (await findTriggers(tx, [row.id]))[0]!;
};

/** The time at which the window ends that begins now; null: there is none. */
const dueIn = (windowSeconds: number | null) =>
  sql<Date | null>`platform_now() + ${windowSeconds}::integer * interval '1 second'`;

/** What a change writes besides the fields. */
interface Changes extends Partial<SettingsColumns> {
  enabled?: boolean;
  /** Seconds from now until an absence is due; null: it never is. */
  windowSeconds?: number | null;
  /** Seconds from now until the previous secret ends; null: there is none. */
  overlapSeconds?: number | null;
  blocked_reason?: null;
}

/** Changes the locked row and raises its revision. */
export const updateTrigger = async (
  tx: Tx,
  id: string,
  { windowSeconds, overlapSeconds, ...changes }: Changes,
  values?: Fields,
): Promise<TriggerRow> => {
  await tx
    .updateTable('triggers')
    .set({
      ...(values && triggers.write(values)),
      ...changes,
      ...(windowSeconds !== undefined && { due_at: dueIn(windowSeconds), missed_at: null }),
      ...(overlapSeconds !== undefined && { previous_secret_expires_at: dueIn(overlapSeconds) }),
      revision: sql<number>`revision + 1`,
      updated_at: sql<Date>`platform_now()`,
    })
    .where('id', '=', id)
    .execute();
  return (await findTriggers(tx, [id]))[0]!;
};

export const deleteTriggerRow = async (tx: Tx, id: string): Promise<void> => {
  await tx.deleteFrom('triggers').where('id', '=', id).execute();
};

/** Says why a trigger cannot receive events, or null that it can. It is no change of the resource. */
export const updateBlocked = async (executor: Executor, id: string, reason: string | null): Promise<void> => {
  await sql`update triggers set blocked_reason = ${reason}
    where id = ${id} and blocked_reason is distinct from ${reason}`.execute(executor);
};
