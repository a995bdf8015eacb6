import {
  type Executor,
  type Page,
  type RawBuilder,
  selectPage,
  sql,
  type Table,
  type Tx,
} from '../database/index.ts';
import type { ClaimLimits } from '../lib/attempt-loop.ts';

/** Events that a callback can be notified of: a Work Item has a new status. */
export const callbackEvents = [
  'work_item.pending',
  'work_item.executing',
  'work_item.needs_review',
  'work_item.indeterminate',
  'work_item.completed',
  'work_item.error',
  'work_item.cancelled',
] as const;
export type CallbackEvent = (typeof callbackEvents)[number];

export const deliveryStates = ['pending', 'delivered', 'failed', 'gone'] as const;

/** Never changed; `removed_at` is set when it is taken off its agent, or another row has what it is now. */
interface CallbackRow {
  id: string;
  agent_id: string | null;
  work_item_id: string | null;
  url: string;
  origin: string;
  events: CallbackEvent[];
  /** Sealed. */
  settings: string;
  /** True if someone with the role member gave it: it reaches fewer addresses. */
  given_by_member: boolean;
  removed_at: Date | null;
  created_at: Date;
}

/** A delivery that is to be sent, with what else it says of its Work Item, and with what that cost until now. */
export interface ClaimedDelivery extends Delivery {
  trigger_id: string | null;
  occurrence_id: string | null;
  depth: number;
  cost_nano_usd: number;
  unknown_calls: number;
}

export interface Delivery {
  id: string;
  callback_id: string;
  work_item_id: string;
  event: CallbackEvent;
  agent_id: string;
  agent_version: number | null;
  schedule_id: string | null;
  work_item_name: string | null;
  status: string;
  previous_status: string | null;
  created_at: Date;
  url: string;
  origin: string;
  state: (typeof deliveryStates)[number];
  attempts: number;
  failures: number;
  last_status: number | null;
  last_error: string | null;
  next_attempt_at: Date | null;
  delivered_at: Date | null;
}

type Defaulted = 'id' | 'created_at' | 'state' | 'attempts' | 'failures' | 'next_attempt_at';

declare module '../database/database.ts' {
  interface Schema {
    callbacks: Table<CallbackRow, 'removed_at' | 'created_at'>;
    callback_deliveries: Table<Delivery, Defaulted>;
  }
}

export const insertCallback = async (
  tx: Tx,
  row: Omit<CallbackRow, 'removed_at' | 'created_at'>,
): Promise<void> => {
  await tx.insertInto('callbacks').values(row).execute();
};

export const findCallback = (
  executor: Executor,
  id: string,
): Promise<Pick<CallbackRow, 'id' | 'settings' | 'given_by_member'> | undefined> =>
  executor
    .selectFrom('callbacks')
    .select(['id', 'settings', 'given_by_member'])
    .where('id', '=', id)
    .executeTakeFirst();

/** Takes the callbacks of an agent away, except `kept`. What was recorded for them is still delivered. */
export const removeCallbackRows = async (tx: Tx, agentId: string, kept: readonly string[]): Promise<void> => {
  await sql`update callbacks set removed_at = platform_now()
    where agent_id = ${agentId} and removed_at is null and id <> all(${kept}::uuid[])`.execute(tx);
};

/** Deletes the callbacks of a draft, except `kept`. Nothing was recorded for them: a draft has had no other status. */
export const deleteCallbackRows = async (
  tx: Tx,
  workItemId: string,
  kept: readonly string[],
): Promise<void> => {
  await sql`delete from callbacks where work_item_id = ${workItemId} and id <> all(${kept}::uuid[])`.execute(
    tx,
  );
};

/**
 * Deletes at most `limit` callbacks that were removed a day ago and that no delivery needs any more. Returns how many.
 * A transaction that does not see the removal yet may still record a delivery, but not a day later.
 */
export const deleteRemovedCallbacks = async (tx: Tx, limit: number): Promise<number> => {
  const { numAffectedRows } = await sql`delete from callbacks where id in (
    select c.id from callbacks c where c.removed_at < platform_now() - interval '1 day'
      and not exists (select from callback_deliveries d where d.callback_id = c.id) limit ${limit})`.execute(
    tx,
  );
  return Number(numAffectedRows);
};

/** True if anyone is notified of the Work Item `w`. */
export const hasCallbacks = sql`(w.callbacks is not null
  or exists (select from callbacks c where c.agent_id = w.agent_id and c.removed_at is null))`;

const ofAgent = sql`select id, url, origin, events from callbacks
  where agent_id = m.agent_id and removed_at is null`;
const ofWorkItem = sql`select id, url, origin, events from callbacks where work_item_id = m.id`;

/**
 * An insert of what callbacks are to be notified of, for each row of `moved`: id, agent_id, schedule_id and
 * work_item_name of a Work Item, its `status`, and the `previous_status` (null: it was created). `of` says whose
 * callbacks.
 */
export const deliveryInsertion = (
  moved: RawBuilder<unknown>,
  of: 'agent' | 'work_item' | 'both',
): RawBuilder<unknown> => {
  const callbacks = { agent: ofAgent, work_item: ofWorkItem, both: sql`${ofAgent} union all ${ofWorkItem}` };
  return sql`insert into callback_deliveries (callback_id, work_item_id, event, agent_id, agent_version, schedule_id,
      work_item_name, status, previous_status, url, origin)
    select c.id, m.id, 'work_item.' || lower(m.status), m.agent_id, m.agent_version, m.schedule_id,
      m.work_item_name, m.status, m.previous_status, c.url, c.origin
    from ${moved} m cross join lateral (${callbacks[of]}) c
    where 'work_item.' || lower(m.status) = any(c.events)`;
};

/** A Work Item whose status changed. */
interface Moved {
  id: string;
  agent_id: string;
  agent_version: number | null;
  schedule_id: string | null;
  work_item_name: string | null;
  status: string;
  /** Status before; null if the Work Item was created. */
  previous_status: string | null;
}

/** Records what callbacks are to be notified of, in the transaction of the change. */
export const recordDeliveries = async (
  tx: Tx,
  moved: readonly Moved[],
  of: 'work_item' | 'both' = 'both',
): Promise<void> => {
  if (moved.length === 0) return;
  const rows = sql`unnest(${moved.map((m) => m.id)}::uuid[], ${moved.map((m) => m.agent_id)}::uuid[],
    ${moved.map((m) => m.agent_version)}::integer[], ${moved.map((m) => m.schedule_id)}::uuid[], ${moved.map((m) => m.work_item_name)}::text[],
    ${moved.map((m) => m.status)}::text[], ${moved.map((m) => m.previous_status)}::text[])`;
  const table = sql`(select * from ${rows}
    as m(id, agent_id, agent_version, schedule_id, work_item_name, status, previous_status))`;
  await deliveryInsertion(table, of).execute(tx);
};

const columns = [
  'id',
  'callback_id',
  'work_item_id',
  'event',
  'agent_id',
  'agent_version',
  'schedule_id',
  'work_item_name',
  'status',
  'previous_status',
  'created_at',
  'url',
  'origin',
  'state',
  'attempts',
  'failures',
  'last_status',
  'last_error',
  'next_attempt_at',
  'delivered_at',
] as const;

/** The deliveries of a Work Item, newest first, one more than the limit. */
export const listDeliveries = (executor: Executor, workItemId: string, page: Page): Promise<Delivery[]> =>
  selectPage(
    executor.selectFrom('callback_deliveries').select(columns).where('work_item_id', '=', workItemId),
    page,
  );

/** The delivery, locked until the transaction ends. */
export const lockDelivery = (tx: Tx, workItemId: string, id: string): Promise<Delivery | undefined> =>
  tx
    .selectFrom('callback_deliveries')
    .select(columns)
    .where('work_item_id', '=', workItemId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();

/** Makes a delivery that ended due now, with all its attempts. */
export const restartDelivery = async (tx: Tx, id: string): Promise<Delivery> => {
  const row = await tx
    .updateTable('callback_deliveries')
    .set({ state: 'pending', failures: 0, next_attempt_at: sql<Date>`platform_now()` })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow();
  await sql`select pg_notify('callbacks', '')`.execute(tx);
  return row;
};

/** The origins that something waits for, one step in the index for each. For `with recursive`. */
const pendingOrigins = sql`origins as (
      (select origin from callback_deliveries where state = 'pending' order by origin limit 1)
      union all
      select next.origin from origins o cross join lateral (
        select origin from callback_deliveries where state = 'pending' and origin > o.origin
        order by origin limit 1) next
    )`;

/**
 * Claims up to `limit` deliveries that are due, for `leaseSeconds`: in that time no other replica sends them, and after
 * it they are due again. At most `perDestination` of one origin, less those of `inFlight`, so that an endpoint that hangs
 * does not take all places. A loose index scan steps from origin to origin, however many deliveries wait.
 */
export const claimDeliveries = async (
  tx: Tx,
  { limit, perDestination, inFlight, leaseSeconds }: ClaimLimits,
): Promise<ClaimedDelivery[]> => {
  const { rows } = await sql<ClaimedDelivery>`
    with recursive ${pendingOrigins}, busy as (
      select origin, n from unnest(${[...inFlight.keys()]}::text[], ${[...inFlight.values()]}::integer[]) as b(origin, n)
    ), due as (
      select first.id from origins o left join busy b on b.origin = o.origin cross join lateral (
        select id, next_attempt_at from callback_deliveries
        where state = 'pending' and origin = o.origin and next_attempt_at <= platform_now()
        order by next_attempt_at limit greatest(0, ${perDestination}::integer - coalesce(b.n, 0))) first
      order by first.next_attempt_at limit ${limit}
    ), free as (
      select id from callback_deliveries where id in (select id from due)
        and state = 'pending' and next_attempt_at <= platform_now() for update skip locked
    )
    update callback_deliveries d set attempts = attempts + 1,
      next_attempt_at = platform_now() + make_interval(secs => ${leaseSeconds})
    from free left join lateral (
      select w.cost_nano_usd, w.unknown_calls, w.trigger_id, w.occurrence_id, w.depth from callback_deliveries own
      join work_items w on w.id = own.work_item_id where own.id = free.id) item on true
    where d.id = free.id
    returning ${sql.join(columns.map((column) => sql.ref(`d.${column}`)))}, item.trigger_id, item.occurrence_id,
      coalesce(item.depth, 0) as depth, coalesce(item.cost_nano_usd, 0) as cost_nano_usd,
      coalesce(item.unknown_calls, 0) as unknown_calls`.execute(tx);
  return rows;
};

/** Result of an attempt. `retryInMs` null: the delivery does not fail any more, or has failed for good. */
export interface AttemptResult {
  state: Delivery['state'];
  status: number | null;
  error: string | null;
  retryInMs: number | null;
}

/** Records how the claimed attempt ended. Nothing changes if the delivery was claimed again since. */
export const endAttempt = async (
  executor: Executor,
  { id, attempts }: Pick<Delivery, 'id' | 'attempts'>,
  { state, status, error, retryInMs }: AttemptResult,
): Promise<void> => {
  await sql`update callback_deliveries set state = ${state}, last_status = ${status}, last_error = ${error},
      failures = failures + ${state === 'delivered' ? 0 : 1},
      delivered_at = case when ${state}::text = 'delivered' then platform_now() end,
      next_attempt_at = case when ${state}::text = 'pending'
        then platform_now() + ${retryInMs}::double precision * interval '1 millisecond' end
    where id = ${id} and attempts = ${attempts} and state = 'pending'`.execute(executor);
};

/** Gives a claimed delivery back: it is due now, and the attempt does not count as a failure. */
export const releaseDelivery = async (
  executor: Executor,
  { id, attempts }: Pick<Delivery, 'id' | 'attempts'>,
): Promise<void> => {
  await sql`update callback_deliveries set next_attempt_at = platform_now()
    where id = ${id} and attempts = ${attempts} and state = 'pending'`.execute(executor);
};

/** Milliseconds until a delivery is due; 0 if one is, null if none waits. `except`: origins that have no free place. */
export const nextDeliveryIn = async (
  executor: Executor,
  except: readonly string[],
): Promise<number | null> => {
  const { rows } = await sql<{ ms: number | null }>`
    with recursive ${pendingOrigins}
    select (extract(epoch from min(first.next_attempt_at) - platform_now()) * 1000)::double precision as ms
    from origins o cross join lateral (
      select next_attempt_at from callback_deliveries where state = 'pending' and origin = o.origin
      order by next_attempt_at limit 1) first
    where o.origin <> all(${except}::text[])`.execute(executor);
  const ms = rows[0]!.ms;
  return ms === null ? null : Math.max(0, Math.ceil(ms));
};

/** Returns the number of deliveries that have been due for more than a minute, counted up to 10,000. */
export const countOverdueDeliveries = async (executor: Executor): Promise<number> => {
  const { rows } = await sql<{ n: number }>`select count(*)::integer as n from (
    select from callback_deliveries where state = 'pending' and next_attempt_at < platform_now() - interval '1 minute'
    limit 10000) overdue`.execute(executor);
  return rows[0]!.n;
};
