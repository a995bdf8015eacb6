import { budgetCalls } from '../budgets/index.ts';
import { type Database, sql } from '../database/index.ts';
import { systemActor } from '../lib/principal.ts';
import { workItemRuns } from './runs.ts';
import { wakeWorkers } from './store.ts';

/** Work Items that wait for a budget, and go on when it may have room. */

const atOnce = 500;

/** Returns how many of those that wait for the next period go on before it. */
const resumePostponed = (db: Database): Promise<number> =>
  db.tx(async (tx) => {
    const { rows } = await sql`
      update work_items set not_before = null, budget_wait = null where id in (
        select w.id from work_items w where w.status = 'PENDING' and w.budget_wait is not null
          and ${budgetCalls.mayHaveRoom(sql`w.budget_wait`)}
          -- They have their own times in the half minute after the end of the period.
          and w.not_before > platform_now()
          and not exists (select from budget_periods p where p.id = (w.budget_wait ->> 'period_id')::uuid
            and p.ends_at <= platform_now())
        limit ${atOnce} for update skip locked)
      returning id`.execute(tx);
    if (rows.length > 0) await wakeWorkers(tx);
    return rows.length;
  });

/** Returns how many of those that wait for an administrator go on without a decision. */
const resumeAsked = (db: Database): Promise<number> =>
  db.tx(async (tx) => {
    const moved = await workItemRuns.move(tx, {
      where: sql`w.id in (select i.id from work_items i
          where i.status = 'NEEDS_REVIEW' and i.pending_approvals @> '[{"kind": "budget"}]'
            and ${budgetCalls.mayHaveRoom(sql`(i.pending_approvals -> 0 -> 'budget')`)} limit ${atOnce})
        and w.status = 'NEEDS_REVIEW' and w.pending_approvals @> '[{"kind": "budget"}]'`,
      limit: atOnce,
      to: sql`'PENDING'`,
      set: [sql`attempts = 0`, sql`review_reason = null`, sql`not_before = null`, workItemRuns.nothingAsked],
      action: 'continue',
      principal: systemActor.principal,
      details: { reason: 'the budget has room' },
    });
    return moved.length;
  });

/** Lets all Work Items go on whose budget may have room. */
export const resumeBudgetWaits = async (db: Database): Promise<void> => {
  while ((await resumePostponed(db)) === atOnce);
  while ((await resumeAsked(db)) === atOnce);
};
