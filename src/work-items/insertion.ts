import { deliveryInsertion } from '../callbacks/index.ts';
import { json, type RawBuilder, sql, type Tx } from '../database/index.ts';
import { type Principal, systemPrincipal } from '../lib/principal.ts';
import { snapshotOf, transitionInsertion, watchesCreation } from '../transition-events/index.ts';
import { principalJson } from './history-store.ts';
import { type WorkItem, wakeWorkers } from './store.ts';

export type NewWorkItem = Pick<
  WorkItem,
  'id' | 'agent_id' | 'schedule_id' | 'occurrence' | 'work_item_name' | 'message' | 'payload'
>;

interface NewExtras {
  /** Time of its start; null or left out: at once. */
  start_at?: Date | null;
  /** The trigger whose event is delivered again, and the entry of its ledger. */
  trigger_id?: string | null;
  occurrence_id?: string | null;
  /** The number of Work Items that started each other before it. */
  depth?: number;
}

/** The inserted rows as `deliveryInsertion` takes them. */
const created = sql`(select *, 'PENDING' as status, null::text as previous_status, null::integer as agent_version from inserted)`;

/** The inserted rows as `transitionInsertion` takes them, if any trigger waits for them. */
const createdAndWatched = sql`(select agent_id, 'PENDING' as status, null::text as previous_status, depth, snapshot
  from inserted where snapshot is not null)`;

/** `start_at` if it is still to come: what a PENDING Work Item waits for. */
export const startsLater = (startAt: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`case when ${startAt} > (select platform_now()) then ${startAt} end`;

/**
 * The common table expressions `inserted`, `history` and, if they are PENDING, `notified`: the rows of `source`, which has
 * the columns of `NewWorkItem` with `payload` as jsonb, become Work Items. A row is left out if its schedule and
 * occurrence have a Work Item already, from any replica. `more` are further columns, each as an expression of the row `i`. `notified` is what the callbacks of their agents are to be told. They are part of a larger statement, so that a firing never
 * carries messages and payloads through this process.
 *
 * The time is read once, and the first event has the id of its Work Item: in a herd of firings each row counts.
 */
const insertion = (
  source: RawBuilder<unknown>,
  status: 'DRAFT' | 'PENDING',
  principal: Principal,
  more: Readonly<Record<string, RawBuilder<unknown>>>,
): RawBuilder<unknown> => sql`
  inserted as (
    insert into work_items (id, conversation_id, agent_id, schedule_id, occurrence, work_item_name, message,
      payload, status, created_by, by_person, created_at, updated_at, ${sql.join(Object.keys(more).map(sql.ref))})
    select i.id, i.id, i.agent_id, i.schedule_id, i.occurrence, i.work_item_name, i.message, i.payload,
      ${status}, ${principal.id}, ${sql.lit(principal.kind === 'person')}, (select platform_now()), (select platform_now()),
      ${sql.join(Object.values(more))}
    from ${source} i
    on conflict (schedule_id, occurrence) do nothing
    returning id, agent_id, schedule_id, occurrence, work_item_name, depth,
      case when ${watchesCreation} then ${snapshotOf('work_items')} end as snapshot
  ), history as (
    insert into work_item_events (id, work_item_id, to_status, action, principal, details, at)
    select id, id, ${status}, 'create', ${principalJson(principal)}::jsonb, '{}', (select platform_now())
    from inserted
  )${
    status === 'PENDING'
      ? sql`, notified as (${deliveryInsertion(created, 'agent')}),
  watched as (${transitionInsertion(createdAndWatched)})`
      : sql``
  }`;

export const scheduler = systemPrincipal('scheduler', 'scheduler');

/**
 * The part of a firing's statement that makes the rows of `source` (see `insertion`) PENDING Work Items. The caller
 * has locked the rows of their schedules, so that the agents are not deleted, and notifies the workers.
 */
export const firedInsertion = (source: RawBuilder<unknown>): RawBuilder<unknown> =>
  insertion(source, 'PENDING', scheduler, { overlap_watched: sql`i.overlap_watched` });

const triggerPrincipal = systemPrincipal('trigger', 'trigger');

/**
 * The part of a statement that makes the rows of `source` (see `insertion`) PENDING Work Items of events. The rows also
 * have `trigger_id`, `occurrence_id` (the entry of the event in the ledger), `start_at` (null: at once) and `depth`. The
 * caller has locked the rows of their triggers, so that the agents are not deleted, and notifies the workers.
 */
export const triggeredInsertion = (source: RawBuilder<unknown>): RawBuilder<unknown> =>
  insertion(source, 'PENDING', triggerPrincipal, {
    trigger_id: sql`i.trigger_id`,
    occurrence_id: sql`i.occurrence_id`,
    start_at: sql`i.start_at`,
    not_before: startsLater(sql`i.start_at`),
    depth: sql`i.depth`,
  });

/**
 * Inserts many at once, with their history, in two statements whatever their number. Returns the ids of those inserted.
 */
export const insertWorkItems = async (
  tx: Tx,
  items: readonly (NewWorkItem & NewExtras)[],
  status: 'DRAFT' | 'PENDING',
  principal: Principal,
): Promise<string[]> => {
  if (items.length === 0) return [];
  const { rows } = await sql<{ id: string }>`
    with items as (
      select i.id, i.agent_id, i.schedule_id, i.occurrence, i.work_item_name, i.message, i.payload::jsonb,
        i.start_at, i.trigger_id, i.occurrence_id, i.depth
      from unnest(${items.map((i) => i.id)}::uuid[], ${items.map((i) => i.agent_id)}::uuid[],
        ${items.map((i) => i.schedule_id)}::uuid[],
        ${items.map((i) => i.occurrence?.toISOString() ?? null)}::timestamptz[],
        ${items.map((i) => i.work_item_name)}::text[], ${items.map((i) => i.message)}::text[],
        ${items.map((i) => json(i.payload))}::text[], ${items.map((i) => i.start_at ?? null)}::timestamptz[],
        ${items.map((i) => i.trigger_id ?? null)}::uuid[], ${items.map((i) => i.occurrence_id ?? null)}::uuid[],
        ${items.map((i) => i.depth ?? 0)}::integer[])
        as i(id, agent_id, schedule_id, occurrence, work_item_name, message, payload, start_at, trigger_id, occurrence_id,
          depth)
    ), ${insertion(sql`items`, status, principal, {
      overlap_watched: sql`i.schedule_id is not null`,
      trigger_id: sql`i.trigger_id`,
      occurrence_id: sql`i.occurrence_id`,
      start_at: sql`i.start_at`,
      not_before: status === 'PENDING' ? startsLater(sql`i.start_at`) : sql`null::timestamptz`,
      depth: sql`i.depth`,
    })}
    select id from inserted`.execute(tx);
  if (rows.length > 0 && status === 'PENDING') await wakeWorkers(tx);
  return rows.map((row) => row.id);
};
