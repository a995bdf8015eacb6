import { hasCallbacks, recordDeliveries } from '../callbacks/index.ts';
import { json, notify, type RawBuilder, sql, type Tx } from '../database/index.ts';
import { newId } from '../lib/ids.ts';
import type { Principal } from '../lib/principal.ts';
import type { StoredDecision } from './approvals.ts';
import { eventInsertion } from './history-store.ts';
import { type Action, actions, finishedStatuses, type Status } from './states.ts';
import { stepChanges } from './step-store.ts';
import { cancelsChannel, columns, startsLater, type WorkItem, wakeWorkers } from './store.ts';

/** A transition of all Work Items that match `where`, `w` being the row before it. */
export interface Transition {
  where: RawBuilder<unknown>;
  /** What is given for each Work Item, with its `id`: `g` in the expressions. `columns` are their types. */
  given?: { rows: readonly { id: string }[]; columns: RawBuilder<unknown> };
  /** The next status, as an expression of `w`. */
  to: RawBuilder<unknown>;
  /** Further assignments; they may use `w` and `moving.to_status`. */
  set?: readonly RawBuilder<unknown>[];
  /** At most this many, without those that another transaction has locked. */
  limit?: number;
  /** Leaves out those that another transaction has locked. */
  skipLocked?: boolean;
  /** Called with the rows before their history is written: what it stores is there first. */
  before?: (rows: readonly MovedRow[]) => Promise<void>;
  action: string;
  principal: Pick<Principal, 'kind' | 'id' | 'name'>;
  details?: Details | undefined;
}

/** What the history says besides, of all of them or of each. */
type Details = Record<string, unknown> | ((row: MovedRow) => Record<string, unknown>);

/** A row after a transition. */
export type MovedRow = WorkItem & {
  from_status: Status;
  /** Whether callbacks may have to be notified. */
  notifies: boolean;
};

/** What an UPDATE that moves Work Items returns, besides `from_status`. */
export const movedColumns = sql`${columns}, ${hasCallbacks} as notifies`;

/**
 * What belongs to every change of a status, in its transaction: the history, the waterfall, and what callbacks are to
 * be notified of.
 * The creation of a Work Item does the same inside its own statement (`insertion` in store.ts).
 */
export const recordTransitions = async (
  tx: Tx,
  { action, principal, details }: Pick<Transition, 'action' | 'principal' | 'details'>,
  rows: readonly MovedRow[],
): Promise<void> => {
  if (rows.length === 0) return;
  const detailed = rows.map((row) => ({
    ...row,
    details: typeof details === 'function' ? details(row) : (details ?? {}),
  }));
  const moved = detailed.map(({ id, from_status, status, ...row }) => ({
    id,
    from: from_status,
    to: status,
    details: row.details,
  }));
  await sql`with ${stepChanges(action, detailed)} ${eventInsertion({ action, principal, moved })}`.execute(
    tx,
  );
  const notifying = rows.filter((row) => row.notifies && row.status !== row.from_status);
  await recordDeliveries(
    tx,
    notifying.map(({ from_status, ...row }) => ({ ...row, previous_status: from_status })),
  );
};

const finished = sql.join(finishedStatuses.map((status) => sql.lit(status)));

/**
 * One conditional UPDATE and its history. The condition is checked on the locked row, so that of two that would
 * move the same Work Item the second sees what the first has made of it. A Work Item that leaves EXECUTING gives up
 * its lease; and since that makes room for another Work Item of the agent, workers are notified. The lease is the
 * locked row's, as the status is: PostgreSQL checks constraints on a row as the statement first saw it, and only
 * then looks whether it was changed in the meantime, so the two must not come from different versions of the row.
 */
export const transition = async (tx: Tx, move: Transition): Promise<WorkItem[]> => {
  const bound = move.limit === undefined ? sql`` : sql`limit ${move.limit}`;
  const skip = move.limit !== undefined || move.skipLocked ? sql`skip locked` : sql``;
  const { given } = move;
  const list = given
    ? sql`given as (select * from jsonb_to_recordset(${json(given.rows)}::jsonb) as g(${given.columns})), `
    : sql``;
  const { rows } = await sql<MovedRow>`
    with ${list}moving as (
      select w.id, w.status as from_status, ${move.to} as to_status, w.lease_owner, w.lease_expires_at
      from work_items w ${given ? sql`join given g on g.id = w.id` : sql``} where ${move.where} ${bound} for update of w ${skip}
    )
    update work_items w set ${sql.join([
      sql`status = moving.to_status`,
      sql`updated_at = platform_now()`,
      sql`finished_at = case when moving.to_status in (${finished}) then platform_now() end`,
      sql`lease_owner = case when moving.to_status = 'EXECUTING' then moving.lease_owner end`,
      sql`lease_expires_at = case when moving.to_status = 'EXECUTING' then moving.lease_expires_at end`,
      sql`unsafe_tool_in_flight = moving.to_status = 'EXECUTING' and w.unsafe_tool_in_flight`,
      ...(move.set ?? []),
    ])}
    from moving ${given ? sql`join given g on g.id = moving.id` : sql``} where w.id = moving.id
    returning ${movedColumns}, moving.from_status`.execute(tx);
  if (rows.length > 0) await move.before?.(rows);
  await recordTransitions(tx, move, rows);
  const claimable = rows.some(
    ({ from_status: from, status: to }) => to === 'PENDING' || (from === 'EXECUTING' && to !== from),
  );
  if (claimable) await wakeWorkers(tx);
  return rows;
};

/** The next status by the table of states. */
const nextBy = (action: Action) =>
  sql`case w.status ${sql.join(
    Object.entries(actions[action]).map(([from, to]) => sql`when ${sql.lit(from)} then ${sql.lit(to)}`),
    sql` `,
  )} end`;

const allows = (action: Action) => {
  const from = sql`w.status in (${sql.join(Object.keys(actions[action]).map((status) => sql.lit(status)))})`;
  // A second request to cancel changes nothing.
  return action === 'cancel' ? sql`${from} and w.cancel_requested_at is null` : from;
};

/** Attempts are counted from 0 again, and nothing is left of how the last one ended. */
const reset = [
  sql`attempts = 0`,
  sql`not_before = null`,
  sql`result = null`,
  sql`error = null`,
  sql`cancel_requested_at = null`,
  sql`start_at = null`,
  // Its schedule may have another \`overlap\` since it was created.
  sql`overlap_watched = w.schedule_id is not null`,
];

/** Nothing waits for a person any more. */
const settled = [sql`review_reason = null`, sql`pending_approvals = null`];

/** The budget of tokens begins again. */
const newBudget = sql`tokens_before =
  coalesce((w.usage ->> 'input_tokens')::bigint + (w.usage ->> 'output_tokens')::bigint, 0)`;

const setBy: Record<Action, (decisions: readonly StoredDecision[]) => Transition['set']> = {
  submit: () => [sql`not_before = ${startsLater(sql`w.start_at`)}`],
  cancel: () => [
    sql`cancel_requested_at = case when w.status = 'EXECUTING' then platform_now() end`,
    sql`not_before = null`,
    ...settled,
  ],
  continue: (decisions) => [
    ...reset,
    ...settled,
    newBudget,
    sql`decisions = ${decisions.length > 0 ? json(decisions) : null}::jsonb`,
    // Each was decided on. After another end, the next attempt reports them to the model.
    sql`unsafe_calls = case when w.status = 'INDETERMINATE' then null else w.unsafe_calls end`,
  ],
  restart: () => [
    ...reset,
    ...settled,
    sql`decisions = null`,
    sql`unsafe_calls = null`,
    sql`context_cut = null`,
    sql`tokens_before = 0`,
    sql`conversation_id = ${newId()}`,
    sql`usage = null`,
    sql`started_at = null`,
    sql`trace_id = null`,
  ],
  complete: () => [sql`error = null`, ...settled],
};

type By = Pick<Transition, 'principal' | 'details'> & {
  /** What a person decided (continue). */
  decisions?: readonly StoredDecision[];
};

const applyAction = async (
  tx: Tx,
  action: Action,
  where: RawBuilder<unknown>,
  { decisions = [], ...by }: By,
): Promise<WorkItem[]> => {
  const moved = await transition(tx, {
    where: sql`${where} and ${allows(action)}`,
    to: nextBy(action),
    set: setBy[action](decisions),
    action,
    ...by,
  });
  for (const { id, status } of moved) if (status === 'EXECUTING') await notify(tx, cancelsChannel, id);
  return moved;
};

/** Moves a Work Item as the table of states says; undefined if its state does not allow the action. */
export const moveBy = async (tx: Tx, action: Action, id: string, by: By): Promise<WorkItem | undefined> =>
  (await applyAction(tx, action, sql`w.id = ${id}`, by))[0];

/** Moves all Work Items that match `where`, of `work_items w`, and whose state allows the action. */
export const moveWhereBy = async (
  tx: Tx,
  action: Action,
  where: RawBuilder<unknown>,
  by: By,
): Promise<void> => {
  await applyAction(tx, action, where, by);
};

/** Moves all Work Items of an agent whose state allows the action. */
export const moveAllBy = async (tx: Tx, action: Action, agentId: string, by: By): Promise<void> => {
  await moveWhereBy(tx, action, sql`w.agent_id = ${agentId}`, by);
};
