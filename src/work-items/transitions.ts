import { notify, type RawBuilder, sql, type Tx } from '../database/index.ts';
import { newId } from '../lib/ids.ts';
import type { Principal } from '../lib/principal.ts';
import { recordEvents } from './history-store.ts';
import { type Action, actions, finishedStatuses, type Status } from './states.ts';
import { cancelsChannel, columns, type WorkItem, wakeWorkers } from './store.ts';

/** A transition of all Work Items that match `where`, `w` being the row before it. */
export interface Transition {
  where: RawBuilder<unknown>;
  /** The next status, as an expression of `w`. */
  to: RawBuilder<unknown>;
  /** Further assignments; they may use `w` and `moving.to_status`. */
  set?: readonly RawBuilder<unknown>[];
  /** At most this many, without those that another transaction has locked. */
  limit?: number;
  action: string;
  principal: Pick<Principal, 'kind' | 'id' | 'name'>;
  details?: Record<string, unknown>;
}

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
  const skip = move.limit === undefined ? sql`` : sql`skip locked`;
  const { rows } = await sql<WorkItem & { from_status: Status }>`
    with moving as (
      select w.id, w.status as from_status, ${move.to} as to_status, w.lease_owner, w.lease_expires_at
      from work_items w where ${move.where} ${bound} for update of w ${skip}
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
    from moving where w.id = moving.id
    returning ${columns}, moving.from_status`.execute(tx);
  const moved = rows.map(({ id, from_status, status }) => ({ id, from: from_status, to: status }));
  await recordEvents(tx, move.action, move.principal, moved, move.details);
  const claimable = moved.some((m) => m.to === 'PENDING' || (m.from === 'EXECUTING' && m.to !== m.from));
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
];

const setBy: Record<Action, () => Transition['set']> = {
  submit: () => [],
  cancel: () => [
    sql`cancel_requested_at = case when w.status = 'EXECUTING' then platform_now() end`,
    sql`not_before = null`,
  ],
  continue: () => reset,
  restart: () => [
    ...reset,
    sql`conversation_id = ${newId()}`,
    sql`usage = null`,
    sql`started_at = null`,
    sql`trace_id = null`,
  ],
  complete: () => [sql`error = null`],
};

type By = Pick<Transition, 'principal' | 'details'>;

const applyAction = async (
  tx: Tx,
  action: Action,
  where: RawBuilder<unknown>,
  by: By,
): Promise<WorkItem[]> => {
  const moved = await transition(tx, {
    where: sql`${where} and ${allows(action)}`,
    to: nextBy(action),
    set: setBy[action](),
    action,
    ...by,
  });
  for (const { id, status } of moved) if (status === 'EXECUTING') await notify(tx, cancelsChannel, id);
  return moved;
};

/** Moves a Work Item as the table of states says; undefined if its state does not allow the action. */
export const moveBy = async (tx: Tx, action: Action, id: string, by: By): Promise<WorkItem | undefined> =>
  (await applyAction(tx, action, sql`w.id = ${id}`, by))[0];

/** Moves all Work Items of an agent whose state allows the action. */
export const moveAllBy = async (tx: Tx, action: Action, agentId: string, by: By): Promise<void> => {
  await applyAction(tx, action, sql`w.agent_id = ${agentId}`, by);
};
