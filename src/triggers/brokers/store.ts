import { type Executor, sql, type Tx } from '../../database/index.ts';
import type { Position, ReadingMemory, ReadingStatus } from '../../event-connections/index.ts';
import type { BrokerKind } from './message.ts';

/** A trigger that reads a broker. */
export interface ReadingTrigger {
  id: string;
  kind: BrokerKind;
  /** SettingsOf its kind, sealed. */
  settings: string;
  connection_id: string;
  revision: number;
  connection_revision: number;
  blocked_reason: string | null;
}

/** The triggers whose brokers are to be read. */
export const listReadingTriggers = async (executor: Executor): Promise<ReadingTrigger[]> => {
  const { rows } = await sql<ReadingTrigger>`
    select t.id, t.kind, t.settings, t.connection_id, t.revision, c.revision as connection_revision, t.blocked_reason
    from triggers t join event_connections c on c.id = t.connection_id
    where t.kind in ('nats', 'kafka') and t.enabled`.execute(executor);
  return rows;
};

export const triggerExists = async (executor: Executor, id: string): Promise<boolean> => {
  const { rows } = await sql`select from triggers where id = ${id}`.execute(executor);
  return rows.length > 0;
};

/** The ids of at most `limit` triggers that use a connection. */
export const listTriggersOfConnection = async (
  tx: Tx,
  connectionId: string,
  limit: number,
): Promise<string[]> => {
  const { rows } = await sql<{ id: string }>`
    select id from triggers where connection_id = ${connectionId} order by id limit ${limit}`.execute(tx);
  return rows.map(({ id }) => id);
};

/** A consumer of the platform's own, which is deleted after its trigger. */
export interface OwnConsumer {
  connection_id: string;
  stream: string;
  consumer: string;
}

/** Notes that a reading begins, before its consumer is made. */
export const insertReading = async (
  executor: Executor,
  triggerId: string,
  own: OwnConsumer | null,
): Promise<void> => {
  await sql`insert into trigger_readings (trigger_id, connection_id, stream, consumer, state)
    values (${triggerId}, ${own?.connection_id ?? null}, ${own?.stream ?? null}, ${own?.consumer ?? null}, 'connecting')
    on conflict (trigger_id) do update set connection_id = excluded.connection_id, stream = excluded.stream,
      consumer = excluded.consumer, state = coalesce(trigger_readings.state, 'connecting')`.execute(executor);
};

/** What is kept of a reading; null before the first. Undefined if the trigger is gone. */
export const findMemory = async (
  executor: Executor,
  triggerId: string,
): Promise<ReadingMemory | null | undefined> => {
  const { rows } = await sql<{ source_id: string | null; positions: Position[] | null }>`
    select r.source_id, r.positions from triggers t left join trigger_readings r on r.trigger_id = t.id
    where t.id = ${triggerId}`.execute(executor);
  if (!rows[0]) return undefined;
  const { source_id, positions } = rows[0];
  return source_id === null ? null : { sourceId: source_id, positions: positions ?? [] };
};

export const updateMemory = async (
  executor: Executor,
  triggerId: string,
  { sourceId, positions }: ReadingMemory,
): Promise<void> => {
  await sql`update trigger_readings set source_id = ${sourceId}, positions = ${JSON.stringify(positions)}::jsonb
    where trigger_id = ${triggerId}`.execute(executor);
};

/** How long a status counts before another replica's may replace it, in seconds. */
const statusSeconds = 9;

/** So many unread messages are many. */
const behindMessages = 1_000;

/**
 * Stores how triggers are read. Where replicas differ, one that reads counts for some seconds. Positions of another source
 * than the one that is kept are passed over.
 */
export const updateStatuses = async (
  executor: Executor,
  statuses: readonly (ReadingStatus & { triggerId: string })[],
): Promise<void> => {
  const rows = statuses.map(({ triggerId, sourceId, state, lag, last_error, last_read_at, positions }) => ({
    trigger_id: triggerId,
    source_id: sourceId,
    state,
    lag,
    last_error,
    last_read_at,
    positions,
  }));
  await sql`update trigger_readings r set state = n.state, lag = coalesce(n.lag, r.lag), last_error = n.last_error,
      behind_since = case when coalesce(n.lag, r.lag, 0) < ${behindMessages} then null
        else coalesce(r.behind_since, platform_now()) end,
      last_read_at = greatest(r.last_read_at, n.last_read_at), updated_at = platform_now(),
      positions = case when n.source_id = r.source_id and n.positions <> '[]'::jsonb then n.positions else r.positions end
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as n(trigger_id uuid, source_id text, state text, lag bigint,
      last_error text, last_read_at timestamptz, positions jsonb)
    where r.trigger_id = n.trigger_id and (n.state = 'ok' or r.state is distinct from 'ok'
      or r.updated_at < platform_now() - ${statusSeconds} * interval '1 second')`.execute(executor);
};

/** The trigger is not read any more. Its position stays. */
export const clearStatus = async (executor: Executor, triggerId: string): Promise<void> => {
  await sql`update trigger_readings set state = null, lag = null, last_error = null, behind_since = null
    where trigger_id = ${triggerId}`.execute(executor);
};

interface ShownReading {
  state: ReadingStatus['state'];
  lag: number | null;
  last_error: string | null;
  last_read_at: Date | null;
  positions: Position[];
}

/** A status that no replica has confirmed for so long counts no more, in seconds. */
const staleSeconds = 15;

/** How the triggers with these ids are read. Those that no replica reads are not among them. */
export const findReadings = async (
  executor: Executor,
  ids: readonly string[],
): Promise<Map<string, ShownReading>> => {
  const { rows } = await sql<ShownReading & { trigger_id: string; is_fresh: boolean }>`
    select trigger_id, state, lag::float8 as lag, last_error, last_read_at, positions,
      updated_at > platform_now() - ${staleSeconds} * interval '1 second' as is_fresh
    from trigger_readings where trigger_id = any(${ids}::uuid[]) and state is not null`.execute(executor);
  return new Map(
    rows.map(({ trigger_id, is_fresh, ...reading }) => [
      trigger_id,
      is_fresh ? reading : { ...reading, state: 'connecting', lag: null, last_error: null },
    ]),
  );
};

/** Rows whose triggers are gone. */
export const listOrphans = async (
  executor: Executor,
  limit: number,
): Promise<(Partial<OwnConsumer> & { trigger_id: string; is_old: boolean })[]> => {
  const { rows } = await sql<Partial<OwnConsumer> & { trigger_id: string; is_old: boolean }>`
    select r.trigger_id, r.connection_id, r.stream, r.consumer,
      r.updated_at < platform_now() - interval '1 day' as is_old
    from trigger_readings r where not exists (select from triggers t where t.id = r.trigger_id)
    limit ${limit}`.execute(executor);
  return rows;
};

export const deleteReading = async (executor: Executor, triggerId: string): Promise<void> => {
  await sql`delete from trigger_readings where trigger_id = ${triggerId}`.execute(executor);
};
