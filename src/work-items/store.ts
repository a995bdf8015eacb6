import type { Callback } from '../callbacks/index.ts';
import { type Executor, json, notify, prepared, type RawBuilder, sql, type Tx } from '../database/index.ts';
import { isId } from '../lib/ids.ts';
import { type OpenReview, openReview } from '../reviews/index.ts';
import type { RunError, RunRow } from '../runs/index.ts';
import type { Status } from './states.ts';

/** The channel that notifies workers of Work Items that may be claimed. */
export const workItemsChannel = 'work_items';

/** The channel that notifies the worker of a Work Item that it is to be cancelled; the payload is its id. */
export const cancelsChannel = 'work_item_cancels';

export interface WorkItem extends RunRow {
  agent_id: string;
  /** The version of the agent that its claim pinned; null before the first. */
  agent_version: number | null;
  schedule_id: string | null;
  /** The nominal time that fired it; null if no schedule did. */
  occurrence: Date | null;
  /** The trigger whose event created it, and the entry of that event in its ledger; null if none did. */
  trigger_id: string | null;
  occurrence_id: string | null;
  work_item_name: string | null;
  message: string;
  payload: Record<string, unknown>;
  status: Status;
  result: unknown;
  /** The model that replied last; null before. */
  model: string | null;
  /** Reason why it waits for a person; null unless it does. */
  review_reason: string | null;
  /** The open review; null unless it waits for a person. */
  open_review: OpenReview | null;
  /** null is an empty list. */
  callbacks: Callback[] | null;
  attempts: number;
  cost_nano_usd: number;
  /** Calls of models without a known amount. */
  unknown_calls: number;
  created_by: string;
  created_at: Date;
  updated_at: Date;
  /** The time that it was to wait for; null if none was given. */
  start_at: Date | null;
  /** Start of the current or last attempt. */
  started_at: Date | null;
  finished_at: Date | null;
  cancel_requested_at: Date | null;
  conversation_id: string;
  trace_id: string | null;
  /** Number of agents that called each other before it was created; 0: none. */
  depth: number;
  /** The token of the last claim: only its holder may write. */
  fencing: number;
  /** Null unless it is EXECUTING. */
  lease_expires_at: Date | null;
  agent_exists: boolean;
}

const needsDecision = sql`w.status in ('NEEDS_REVIEW', 'INDETERMINATE')`;

/**
 * Columns of `work_items w`. Listed, because a named statement with `*` fails after a migration that adds a column. A
 * replica of the release before leaves the requests for decisions in the row when it continues a Work Item.
 */
export const columns = sql`w.id, w.agent_id, w.agent_version, w.schedule_id, w.occurrence,
  w.trigger_id, w.occurrence_id, w.work_item_name, w.message, w.payload,
  w.status, w.result, w.error, w.usage, w.model, case when ${needsDecision} then w.review_reason end as review_reason,
  case when ${needsDecision} then w.pending_approvals end as pending_approvals,
  case when ${needsDecision} then ${openReview('work_item', sql`w.id`)} end as open_review, w.decisions, w.callbacks,
  w.attempts, w.cost_nano_usd, w.unknown_calls, w.created_by, w.created_at, w.updated_at, w.start_at, w.started_at, w.finished_at, w.cancel_requested_at,
  w.conversation_id, w.trace_id, w.depth, w.fencing, w.lease_expires_at,
  exists (select from agents a where a.id = w.agent_id) as agent_exists`;

/** Notifies the workers, when the transaction commits, that there may be something to claim. */
export const wakeWorkers = (tx: Tx): Promise<void> => notify(tx, workItemsChannel);

/** The id of a Work Item, if there is one with it: for what needs nothing else of its row. */
export const findWorkItemId = async (executor: Executor, id: string): Promise<{ id: string } | undefined> => {
  const { rows } = await sql<{ id: string }>`select id from work_items where id = ${id}`.execute(executor);
  return rows[0];
};

const workItemById = prepared((executor, values: { id: string }) =>
  sql<WorkItem>`select ${columns} from work_items w where w.id = ${values.id}`.compile(executor),
);

export const findWorkItem = async (executor: Executor, id: string): Promise<WorkItem | undefined> =>
  (await workItemById(executor, { id }))[0];

/** Stores the callbacks that a new Work Item got. */
export const updateCallbacks = async (tx: Tx, id: string, callbacks: readonly Callback[]): Promise<void> => {
  await sql`update work_items set callbacks = ${json(callbacks)}::jsonb where id = ${id}`.execute(tx);
};

export const findWorkItems = async (executor: Executor, ids: readonly string[]): Promise<WorkItem[]> => {
  const { rows } =
    await sql<WorkItem>`select ${columns} from work_items w where w.id = any(${ids}::uuid[])`.execute(
      executor,
    );
  return rows;
};

const mostReviews = 1_000;

/** Resolves to how many Work Items wait for a person, at most 1,000. */
export const countReviews = async (executor: Executor): Promise<number> => {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from (
    select 1 from work_items where status in ('NEEDS_REVIEW', 'INDETERMINATE') limit ${mostReviews}) as waiting`.execute(
    executor,
  );
  return rows[0]!.count;
};

/** Outcome of a Work Item, or its status before that, as a ledger shows it. */
export interface WorkItemOutcome {
  id: string;
  status: Status;
  attempts: number;
  error: RunError | null;
  /** Time that its last attempt took; null unless it has ended. */
  duration_ms: number | null;
  /** Name of its creator. */
  by: string;
}

export const findWorkItemOutcomes = async (
  executor: Executor,
  ids: readonly string[],
): Promise<WorkItemOutcome[]> => {
  const { rows } = await sql<WorkItemOutcome>`
    select w.id, w.status, w.attempts, w.error,
      (date_part('epoch', w.finished_at - w.started_at) * 1000)::bigint as duration_ms,
      coalesce((select principal ->> 'name' from work_item_events e where e.work_item_id = w.id order by seq limit 1),
        w.created_by) as by
    from work_items w where w.id = any(${ids}::uuid[])`.execute(executor);
  return rows;
};

/** Returns of those of `ids` that exist whether they are PENDING or EXECUTING: 1, or 0. */
export const listOpenness = async (
  executor: Executor,
  ids: readonly string[],
): Promise<Map<string, number>> => {
  const { rows } = await sql<{ id: string; open: number }>`
    select id, (status in ('PENDING', 'EXECUTING'))::int as open
    from work_items where id = any(${ids}::uuid[])`.execute(executor);
  return new Map(rows.map(({ id, open }) => [id, open]));
};

export interface WorkItemFilter {
  agent_id?: string;
  agent_version?: number | undefined;
  schedule_id?: string;
  trigger_id?: string;
  status?: Status;
  /** True if a person has to decide something. */
  needs_decision?: boolean;
  /** Milliseconds since 1970, without the time itself, like the next. */
  created_after?: number;
  created_before?: number;
}

/** Returns Work Items, newest first, and the number of matches: one statement, so that both are of the same moment. */
export const listWorkItems = async (
  executor: Executor,
  filter: WorkItemFilter,
  page: { limit: number; offset: number },
): Promise<{ items: WorkItem[]; total: number }> => {
  const conditions: RawBuilder<unknown>[] = [sql`true`];
  for (const name of ['agent_id', 'schedule_id', 'trigger_id'] as const) {
    const id = filter[name];
    if (id === undefined) continue;
    if (!isId(id)) return { items: [], total: 0 };
    conditions.push(sql`w.${sql.ref(name)} = ${id}`);
  }
  if (filter.agent_version !== undefined) conditions.push(sql`w.agent_version = ${filter.agent_version}`);
  if (filter.status !== undefined) conditions.push(sql`w.status = ${filter.status}`);
  if (filter.needs_decision !== undefined) {
    conditions.push(filter.needs_decision ? needsDecision : sql`not (${needsDecision})`);
  }
  const { created_after, created_before } = filter;
  const time = (milliseconds: number) => sql`to_timestamp(${milliseconds}::double precision / 1000)`;
  if (created_after !== undefined) conditions.push(sql`w.created_at > ${time(created_after)}`);
  if (created_before !== undefined) conditions.push(sql`w.created_at < ${time(created_before)}`);
  const where = sql.join(conditions, sql` and `);
  const { rows } = await sql<{ total: number } & ({ id: null } | WorkItem)>`
    select matching.total, page.*
    from (select count(*)::integer as total from work_items w where ${where}) matching
    left join lateral (select ${columns} from work_items w where ${where}
      order by w.id desc limit ${page.limit} offset ${page.offset}) page on true
    order by page.id desc`.execute(executor);
  return {
    items: rows.filter((row): row is WorkItem & { total: number } => row.id !== null),
    total: rows[0]!.total,
  };
};

/**
 * Deletes at most `limit` Work Items that finished more than `days` ago, with their messages and events; none if
 * `days` is 0. Returns how many.
 */
export const deleteFinishedWorkItems = async (tx: Tx, days: number, limit: number): Promise<number> => {
  if (days <= 0) return 0;
  const { rows } = await sql<{ n: number }>`
    with old as (
      select id from work_items where finished_at < platform_now() - make_interval(days => ${days}::integer)
      order by finished_at limit ${limit} for update skip locked
    ), events as (
      delete from work_item_events where work_item_id in (select id from old)
    ), removed as (
      delete from work_items where id in (select id from old) returning 1
    )
    select count(*)::integer as n from removed`.execute(tx);
  return rows[0]!.n;
};

/** The Work Item, locked until the transaction ends. */
export const findLockedWorkItem = async (tx: Tx, id: string): Promise<WorkItem | undefined> => {
  const { rows } =
    await sql<WorkItem>`select ${columns} from work_items w where w.id = ${id} for update of w`.execute(tx);
  return rows[0];
};

/** Writes what people may change of a draft, which is locked. Each change has a later `updated_at` than the one before. */
export const updateDraft = async (
  tx: Tx,
  { id, message, payload, work_item_name, start_at, callbacks }: WorkItem,
): Promise<WorkItem> => {
  const { rows } = await sql<WorkItem>`
    update work_items w set message = ${message}, payload = ${json(payload)}::jsonb,
      work_item_name = ${work_item_name}, start_at = ${start_at}::timestamptz,
      callbacks = ${callbacks && json(callbacks)}::jsonb,
      updated_at = greatest(platform_now(), w.updated_at + interval '1 millisecond')
    where w.id = ${id} returning ${columns}`.execute(tx);
  return rows[0]!;
};

/** Deletes a Work Item with its history. What refers to it, and its files, go with the row. */
export const deleteWorkItemRow = async (tx: Tx, id: string): Promise<void> => {
  await sql`delete from work_item_events where work_item_id = ${id}`.execute(tx);
  await sql`delete from work_items where id = ${id}`.execute(tx);
};

/** Locks a draft against changes of its status. Returns whether it is one. */
export const lockDraftForShare = async (tx: Tx, id: string): Promise<boolean> => {
  const { rows } =
    await sql`select 1 from work_items where id = ${id} and status = 'DRAFT' for share`.execute(tx);
  return rows.length > 0;
};

/** Locks a finished Work Item against being deleted. Returns whether it is one. */
export const lockFinishedForShare = async (tx: Tx, id: string): Promise<boolean> => {
  const { rows } = await sql`select 1 from work_items
    where id = ${id} and finished_at is not null for key share`.execute(tx);
  return rows.length > 0;
};
