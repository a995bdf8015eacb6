import { type Executor, planEachTime, sql, type Table, type Tx } from '../../database/index.ts';
import type { Who } from '../../lib/principal.ts';
import { workItemSql, workItemsChannel } from '../../work-items/index.ts';
import type { Kind } from '../settings.ts';
import type { TakenKey } from './decide.ts';
import type { JudgingTrigger, Outcome } from './delivery.ts';

/** An entry of the ledger. */
export interface EventRow {
  id: string;
  trigger_id: string;
  identity: Buffer;
  event_id: string;
  position: string | null;
  type: string | null;
  at: Date;
  outcome: Outcome;
  reason: string | null;
  work_item_id: string | null;
  starts_at: Date | null;
  original_id: string | null;
  deliveries: number;
  differing: number;
  last_delivery_at: Date;
  body_hash: Buffer | null;
  depth: number;
  revision: number;
  principal: Who | null;
}

declare module '../../database/database.ts' {
  interface Schema {
    trigger_events: Table<Omit<EventRow, 'principal'>, 'deliveries' | 'differing' | 'depth'>;
  }
}

/** The same, locked, with what deciding needs besides. */
export interface LockedTrigger extends JudgingTrigger {
  agent_id: string;
  kind: Kind;
  enabled: boolean;
  rate_limit: { per_minute: number; over: 'queue' | 'skip' } | null;
  bucket_full_at: number | null;
  /** The database's time. */
  now: Date;
}

export const findJudging = async (executor: Executor, ids: readonly string[]): Promise<JudgingTrigger[]> => {
  const { rows } = await sql<JudgingTrigger>`
    select id, revision, filter, mapping, dedup from triggers where id = any(${ids}::uuid[])`.execute(
    executor,
  );
  return rows;
};

/**
 * Locks triggers, in the order of their ids. The lock is exclusive: deliveries of one trigger are stored one transaction
 * after the other, so that limits and windows are exact, and whoever changes the trigger gets its turn in a storm.
 */
export const lockTriggers = async (tx: Tx, ids: readonly string[]): Promise<LockedTrigger[]> => {
  const { rows } = await sql<LockedTrigger>`
    with locked as materialized (
      select id, agent_id, kind, enabled, revision, filter, mapping, dedup, rate_limit, bucket_full_at from triggers
      where id = any(${ids}::uuid[]) order by id for no key update)
    select locked.*, (platform_now() + (clock_timestamp() - statement_timestamp()))::timestamptz(3) as now from locked`.execute(
    tx,
  );
  return rows;
};

/** An event that was stored before. */
export interface StoredEvent {
  id: string;
  outcome: Outcome;
  work_item_id: string | null;
  body_hash: string | null;
}

/**
 * Those of `events` that were stored before, by their index. Identities are in hex. Planned each time, which takes 0.2 ms:
 * a plan that was made while there were few events reads all events of the trigger for each identity, by another index.
 */
export const findStored = async (
  tx: Tx,
  events: readonly { trigger_id: string; identity: string }[],
): Promise<Map<number, StoredEvent>> => {
  const { rows } = await sql<StoredEvent & { n: number }>`${planEachTime}
    select d.n::integer - 1 as n, e.id, e.outcome, e.work_item_id, e.body_hash
    from unnest(${events.map((e) => e.trigger_id)}::uuid[], ${events.map((e) => e.identity)}::text[])
      with ordinality as d(trigger_id, identity, n)
    cross join lateral (select id, outcome, work_item_id, encode(body_hash, 'hex') as body_hash from trigger_events
      where trigger_id = d.trigger_id and identity = decode(d.identity, 'hex') limit 1) e`.execute(tx);
  return new Map(rows.map(({ n, ...row }) => [n, row]));
};

/** Those of these keys (in hex) that events took, by trigger. Planned each time, for the same reason. */
export const findTakenKeys = async (
  tx: Tx,
  keys: readonly { trigger_id: string; key: string }[],
): Promise<Map<string, Map<string, TakenKey>>> => {
  const taken = new Map<string, Map<string, TakenKey>>();
  if (keys.length === 0) return taken;
  const { rows } = await sql<{
    trigger_id: string;
    key: string;
    event_id: string;
    at: Date;
    is_kept: boolean;
  }>`${planEachTime}
    select d.trigger_id, d.key, k.event_id, k.at,
      coalesce((select true from trigger_events e where e.id = k.event_id limit 1), false) as is_kept
    from unnest(${keys.map((k) => k.trigger_id)}::uuid[], ${keys.map((k) => k.key)}::text[]) as d(trigger_id, key)
    cross join lateral (select event_id, at from trigger_dedup_keys
      where trigger_id = d.trigger_id and key = decode(d.key, 'hex') limit 1) k`.execute(tx);
  for (const { trigger_id, key, event_id, at, is_kept } of rows) {
    const ofTrigger = taken.get(trigger_id) ?? new Map<string, TakenKey>();
    ofTrigger.set(key, { eventId: event_id, at: at.getTime(), isKept: is_kept });
    taken.set(trigger_id, ofTrigger);
  }
  return taken;
};

/** An entry to be stored. */
export interface NewEvent {
  id: string;
  /** It is there already, as `pending`. */
  isPending: boolean;
  trigger_id: string;
  agent_id: string;
  /** In hex, like `body_hash` and `key`. */
  identity: string;
  event_id: string;
  position: string | null;
  type: string | null;
  outcome: Outcome;
  reason: string | null;
  original_id: string | null;
  /** Deliveries within this transaction, and those with another body. */
  deliveries: number;
  differing: number;
  body_hash: string | null;
  depth: number;
  revision: number;
  /** Headers and body, sealed. */
  content: string | null;
  /** The Work Item that it makes; null: none. */
  item: {
    id: string;
    message: string;
    work_item_name: string | null;
    payload: string;
    start_at: Date | null;
    key: string | null;
  } | null;
}

export interface NewCount {
  trigger_id: string;
  outcome: string;
  reason: string;
  count: number;
}

export interface Writing {
  events: readonly NewEvent[];
  /** Further deliveries of events that were stored before. */
  repeated: readonly { id: string; deliveries: number; differing: number }[];
  /** When buckets are full again. */
  buckets: readonly { id: string; fullAt: number }[];
  counts: readonly NewCount[];
  replicaId: string;
  now: Date;
}

/** The statement that adds to the counts of the present minute. */
const countsInsertion = (counts: readonly NewCount[], replicaId: string) => sql`
  insert into trigger_event_counts as c (trigger_id, minute, replica_id, outcome, reason, count)
  select g.trigger_id, date_trunc('minute', (select platform_now())), ${replicaId}::uuid, g.outcome, g.reason, g.count
  from unnest(${counts.map((c) => c.trigger_id)}::uuid[], ${counts.map((c) => c.outcome)}::text[],
    ${counts.map((c) => c.reason)}::text[], ${counts.map((c) => c.count)}::integer[]) as g(trigger_id, outcome, reason, count)
  on conflict (trigger_id, minute, outcome, reason, replica_id) do update set count = c.count + excluded.count`;

/**
 * Stores what was decided in one statement: entries, their Work Items with history and notifications, bodies, keys, further
 * deliveries, buckets and counts. An entry and its Work Item are there together or not at all. The caller has locked the
 * triggers, and has seen that no entry is stored twice; the unique identity, and that of the entry of a Work Item, refuse
 * the whole statement otherwise.
 *
 * Arrays are not joined with each other: a plan for outdated statistics would compare each row with each. For the same
 * reason a statement that updates entries is planned each time; one that only adds has no other plan.
 */
export const writeEvents = async (
  tx: Tx,
  { events, repeated, buckets, counts, replicaId, now }: Writing,
): Promise<void> => {
  const added = events.filter(({ isPending }) => !isPending);
  const judged = events.filter(({ isPending }) => isPending);
  const firing = events.flatMap(({ item, ...event }) => (item ? [{ ...event, item }] : []));
  const kept = events.filter(({ content }) => content !== null);
  const keyed = firing.filter(({ item }) => item.key !== null);
  const wakes = firing.some(({ item }) => item.start_at === null);
  const updates = judged.length + repeated.length > 0;
  await sql`${updates ? planEachTime : sql``}
    with added as (
      insert into trigger_events (id, trigger_id, identity, event_id, position, type, at, outcome, reason, work_item_id,
        starts_at, original_id, deliveries, differing, last_delivery_at, body_hash, depth, revision)
      select g.id, g.trigger_id, decode(g.identity, 'hex'), g.event_id, g.position, g.type, ${now}::timestamptz, g.outcome,
        g.reason, g.work_item_id, g.starts_at, g.original_id, g.deliveries, g.differing, ${now}::timestamptz,
        decode(g.body_hash, 'hex'), g.depth, g.revision
      from unnest(
        ${added.map((e) => e.id)}::uuid[], ${added.map((e) => e.trigger_id)}::uuid[],
        ${added.map((e) => e.identity)}::text[], ${added.map((e) => e.event_id)}::text[],
        ${added.map((e) => e.position)}::text[], ${added.map((e) => e.type)}::text[],
        ${added.map((e) => e.outcome)}::text[], ${added.map((e) => e.reason)}::text[],
        ${added.map((e) => e.item?.id ?? null)}::uuid[], ${added.map((e) => e.item?.start_at ?? null)}::timestamptz[],
        ${added.map((e) => e.original_id)}::uuid[], ${added.map((e) => e.deliveries)}::integer[],
        ${added.map((e) => e.differing)}::integer[], ${added.map((e) => e.body_hash)}::text[],
        ${added.map((e) => e.depth)}::integer[], ${added.map((e) => e.revision)}::integer[])
        as g(id, trigger_id, identity, event_id, position, type, outcome, reason, work_item_id, starts_at, original_id,
          deliveries, differing, body_hash, depth, revision)
    ), judged as (
      update trigger_events e set outcome = g.outcome, reason = g.reason, work_item_id = g.work_item_id,
        starts_at = g.starts_at, original_id = g.original_id, revision = g.revision, pending_event = null
      from unnest(
        ${judged.map((e) => e.id)}::uuid[], ${judged.map((e) => e.outcome)}::text[],
        ${judged.map((e) => e.reason)}::text[], ${judged.map((e) => e.item?.id ?? null)}::uuid[],
        ${judged.map((e) => e.item?.start_at ?? null)}::timestamptz[], ${judged.map((e) => e.original_id)}::uuid[],
        ${judged.map((e) => e.revision)}::integer[])
        as g(id, outcome, reason, work_item_id, starts_at, original_id, revision)
      where e.id = g.id and e.outcome = 'pending'
    ), firing as (
      select g.id, g.agent_id, null::uuid as schedule_id, null::timestamptz as occurrence, g.work_item_name, g.message,
        g.payload::jsonb as payload, g.trigger_id, g.occurrence_id, g.start_at, g.depth
      from unnest(
        ${firing.map((e) => e.item.id)}::uuid[], ${firing.map((e) => e.agent_id)}::uuid[],
        ${firing.map((e) => e.item.work_item_name)}::text[], ${firing.map((e) => e.item.message)}::text[],
        ${firing.map((e) => e.item.payload)}::text[], ${firing.map((e) => e.trigger_id)}::uuid[],
        ${firing.map((e) => e.id)}::uuid[], ${firing.map((e) => e.item.start_at)}::timestamptz[],
        ${firing.map((e) => e.depth)}::integer[])
        as g(id, agent_id, work_item_name, message, payload, trigger_id, occurrence_id, start_at, depth)
    ), ${workItemSql.triggeredInsertion(sql`firing`)}, bodies as (
      insert into trigger_event_bodies (id, at, content)
      select g.id, ${now}::timestamptz, g.content
      from unnest(${kept.map((e) => e.id)}::uuid[], ${kept.map((e) => e.content)}::text[]) as g(id, content)
    ), keys as (
      insert into trigger_dedup_keys (trigger_id, key, event_id, at)
      select g.trigger_id, decode(g.key, 'hex'), g.event_id, ${now}::timestamptz
      from unnest(${keyed.map((e) => e.trigger_id)}::uuid[], ${keyed.map((e) => e.item.key)}::text[],
        ${keyed.map((e) => e.id)}::uuid[]) as g(trigger_id, key, event_id)
      on conflict (trigger_id, key) do update set event_id = excluded.event_id, at = excluded.at
    ), repeated as (
      update trigger_events e set deliveries = e.deliveries + g.deliveries, differing = e.differing + g.differing,
        last_delivery_at = ${now}::timestamptz
      from unnest(${repeated.map((r) => r.id)}::uuid[], ${repeated.map((r) => r.deliveries)}::integer[],
        ${repeated.map((r) => r.differing)}::integer[]) as g(id, deliveries, differing)
      where e.id = g.id
    ), buckets as (
      update triggers t set bucket_full_at = g.full_at
      from unnest(${buckets.map((b) => b.id)}::uuid[], ${buckets.map((b) => b.fullAt)}::double precision[])
        as g(id, full_at)
      where t.id = g.id
    ), counted as (${countsInsertion(counts, replicaId)})
    select case when ${wakes}::boolean then pg_notify(${workItemsChannel}, '') end`.execute(tx);
};

/** Adds to the counts of the present minute. */
export const addCounts = async (
  executor: Executor,
  counts: readonly NewCount[],
  replicaId: string,
): Promise<void> => {
  await countsInsertion(counts, replicaId).execute(executor);
};
