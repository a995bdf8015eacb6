import { json, notify, type RawBuilder, sql, type Tx } from '../database/index.ts';
import { newId } from '../lib/ids.ts';
import { type BudgetDecision, budgetDenied, type MoveReason } from '../runs/index.ts';
import { startsLater } from './insertion.ts';
import { workItemRuns } from './runs.ts';
import { type Action, actions, deniedByBudget } from './states.ts';
import { cancelsChannel, type WorkItem } from './store.ts';

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

/** Nothing is left of how the last attempt ended. */
const reset = [
  sql`result = null`,
  sql`error = null`,
  sql`review_reason = null`,
  sql`cancel_requested_at = null`,
  sql`start_at = null`,
  // The schedule may have another `overlap` since the Work Item was created.
  sql`overlap_watched = w.schedule_id is not null`,
];

type Decisions = Parameters<typeof workItemRuns.decided>[0];

const setBy: Record<Action, (decisions: Decisions) => RawBuilder<unknown>[]> = {
  submit: () => [sql`not_before = ${startsLater(sql`w.start_at`)}`],
  cancel: () => [
    sql`cancel_requested_at = case when w.status = 'EXECUTING' then platform_now() end`,
    sql`not_before = null`,
    sql`review_reason = null`,
    workItemRuns.nothingAsked,
  ],
  continue: (decisions) => [...reset, ...workItemRuns.decided(decisions)],
  restart: () => [
    ...reset,
    ...workItemRuns.forgotten,
    sql`context_cut = null`,
    sql`conversation_id = ${newId()}`,
    sql`usage = null`,
    sql`started_at = null`,
    sql`trace_id = null`,
    sql`agent_version = null`,
  ],
  complete: () => [sql`error = null`, sql`review_reason = null`, workItemRuns.nothingAsked],
};

interface By extends Pick<MoveReason<WorkItem>, 'principal' | 'reviewEnd'> {
  /** Details for the history. */
  details?: Record<string, unknown>;
  /** Decisions of the person who continues. */
  decisions?: Decisions;
}

const applyAction = async (
  tx: Tx,
  action: Action,
  where: RawBuilder<unknown>,
  { decisions = [], ...by }: By,
): Promise<WorkItem[]> => {
  const moved = await workItemRuns.move(tx, {
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

/** Ends a Work Item for which an administrator gave a budget no more room; undefined if it does not wait any more. */
export const endForBudget = async (
  tx: Tx,
  id: string,
  decision: BudgetDecision,
  by: Omit<By, 'decisions'>,
): Promise<WorkItem | undefined> => {
  const [moved] = await workItemRuns.move(tx, {
    where: sql`w.id = ${id} and w.status = 'NEEDS_REVIEW'`,
    to: sql`${deniedByBudget.NEEDS_REVIEW}::text`,
    set: [
      sql`error = ${json(budgetDenied(decision))}::jsonb`,
      sql`review_reason = null`,
      workItemRuns.nothingAsked,
    ],
    action: 'continue',
    ...by,
  });
  return moved;
};

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
