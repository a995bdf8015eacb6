import { type Executor, json, notify, type RawBuilder, sql, type Tx } from '../database/index.ts';
import { isId } from '../lib/ids.ts';
import type { Principal } from '../lib/principal.ts';
import { principalJson } from './history-store.ts';
import type { Status } from './states.ts';

/** The channel that notifies workers of Work Items that may be claimed. */
export const workItemsChannel = 'work_items';

/** The channel that notifies the worker of a Work Item that it is to be cancelled; the payload is its id. */
export const cancelsChannel = 'work_item_cancels';

export interface WorkItemError {
  code: string;
  message: string;
}

/** Tokens of all model calls. */
export interface WorkItemUsage {
  input_tokens: number;
  output_tokens: number;
}

export interface WorkItem {
  id: string;
  agent_id: string;
  schedule_id: string | null;
  /** The nominal time that fired it; null if no schedule did. */
  occurrence: Date | null;
  work_item_name: string | null;
  message: string;
  payload: Record<string, unknown>;
  status: Status;
  result: unknown;
  error: WorkItemError | null;
  usage: WorkItemUsage | null;
  attempts: number;
  created_by: string;
  created_at: Date;
  updated_at: Date;
  /** When the current or last attempt began. */
  started_at: Date | null;
  finished_at: Date | null;
  cancel_requested_at: Date | null;
  conversation_id: string;
  trace_id: string | null;
  /** The token of the last claim: only its holder may write. */
  fencing: number;
  agent_exists: boolean;
}

/** Of `work_items w`. Listed, because a named statement with `*` fails after a migration that adds a column. */
export const columns = sql`w.id, w.agent_id, w.schedule_id, w.occurrence, w.work_item_name, w.message, w.payload,
  w.status, w.result, w.error, w.usage, w.attempts, w.created_by, w.created_at, w.updated_at, w.started_at, w.finished_at,
  w.cancel_requested_at, w.conversation_id, w.trace_id, w.fencing,
  exists (select from agents a where a.id = w.agent_id) as agent_exists`;

export type NewWorkItem = Pick<
  WorkItem,
  'id' | 'agent_id' | 'schedule_id' | 'occurrence' | 'work_item_name' | 'message' | 'payload'
>;

/**
 * The common table expressions `inserted` (id, schedule_id, occurrence) and `history`: the rows of `source`, which has
 * the columns of `NewWorkItem` with `payload` as jsonb, become Work Items. A row is left out if its schedule and
 * occurrence have a Work Item already, from any replica. They are part of a larger statement, so that a firing never
 * carries messages and payloads through this process.
 *
 * The time is read once, and the first event has the id of its Work Item: in a herd of firings each row counts.
 */
const insertion = (
  source: RawBuilder<unknown>,
  status: 'DRAFT' | 'PENDING',
  principal: Principal,
): RawBuilder<unknown> => sql`
  inserted as (
    insert into work_items (id, conversation_id, agent_id, schedule_id, occurrence, work_item_name, message,
      payload, status, created_by, created_at, updated_at)
    select i.id, i.id, i.agent_id, i.schedule_id, i.occurrence, i.work_item_name, i.message, i.payload,
      ${status}, ${principal.id}, (select platform_now()), (select platform_now())
    from ${source} i
    on conflict (schedule_id, occurrence) do nothing
    returning id, schedule_id, occurrence
  ), history as (
    insert into work_item_events (id, work_item_id, to_status, action, principal, details, at)
    select id, id, ${status}, 'create', ${principalJson(principal)}::jsonb, '{}', (select platform_now())
    from inserted
  )`;

const scheduler: Principal = {
  kind: 'system',
  id: 'scheduler',
  name: 'scheduler',
  role: 'admin',
  keyId: null,
};

/**
 * The part of a firing's statement that makes the rows of `source` (see `insertion`) PENDING Work Items. The caller
 * has locked the rows of their schedules, so that the agents are not deleted, and notifies the workers.
 */
export const firedInsertion = (source: RawBuilder<unknown>): RawBuilder<unknown> =>
  insertion(source, 'PENDING', scheduler);

/** Notifies the workers, when the transaction commits, that there may be something to claim. */
export const wakeWorkers = (tx: Tx): Promise<void> => notify(tx, workItemsChannel);

/**
 * Inserts many at once, with their history, in two statements whatever their number. Returns the ids of those inserted.
 */
export const insertWorkItems = async (
  tx: Tx,
  items: readonly NewWorkItem[],
  status: 'DRAFT' | 'PENDING',
  principal: Principal,
): Promise<string[]> => {
  if (items.length === 0) return [];
  const { rows } = await sql<{ id: string }>`
    with items as (
      select i.id, i.agent_id, i.schedule_id, i.occurrence, i.work_item_name, i.message, i.payload::jsonb
      from unnest(${items.map((i) => i.id)}::uuid[], ${items.map((i) => i.agent_id)}::uuid[],
        ${items.map((i) => i.schedule_id)}::uuid[],
        ${items.map((i) => i.occurrence?.toISOString() ?? null)}::timestamptz[],
        ${items.map((i) => i.work_item_name)}::text[], ${items.map((i) => i.message)}::text[],
        ${items.map((i) => json(i.payload))}::text[])
        as i(id, agent_id, schedule_id, occurrence, work_item_name, message, payload)
    ), ${insertion(sql`items`, status, principal)}
    select id from inserted`.execute(tx);
  if (rows.length > 0 && status === 'PENDING') await wakeWorkers(tx);
  return rows.map((row) => row.id);
};

export const findWorkItem = async (executor: Executor, id: string): Promise<WorkItem | undefined> => {
  const { rows } = await sql<WorkItem>`select ${columns} from work_items w where w.id = ${id}`.execute(
    executor,
  );
  return rows[0];
};

export interface WorkItemFilter {
  agent_id?: string;
  schedule_id?: string;
  status?: Status;
}

/** Newest first, with how many match in all: one statement, so that both are of the same moment. */
export const listWorkItems = async (
  executor: Executor,
  filter: WorkItemFilter,
  page: { limit: number; offset: number },
): Promise<{ items: WorkItem[]; total: number }> => {
  const conditions: RawBuilder<unknown>[] = [sql`true`];
  for (const name of ['agent_id', 'schedule_id'] as const) {
    const id = filter[name];
    if (id === undefined) continue;
    if (!isId(id)) return { items: [], total: 0 };
    conditions.push(sql`w.${sql.ref(name)} = ${id}`);
  }
  if (filter.status !== undefined) conditions.push(sql`w.status = ${filter.status}`);
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
