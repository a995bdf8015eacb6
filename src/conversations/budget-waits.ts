import { budgetCalls } from '../budgets/index.ts';
import { type Database, sql } from '../database/index.ts';
import { systemActor } from '../lib/principal.ts';
import { resumeRun } from './continuations.ts';
import { findRun } from './run-store.ts';
import { findLockedConversation } from './store.ts';

/** Runs that wait for an administrator's decision on a budget, and go on when it may have room. */

const waits = sql`r.status = 'needs_review' and r.pending_approvals @> '[{"kind": "budget"}]'`;

/** Lets all runs go on whose budget may have room. The conversation is locked before its run, as everywhere. */
export const resumeBudgetWaits = async (db: Database): Promise<void> => {
  const { rows } = await db.run((executor) =>
    sql<{ id: string; conversation_id: string }>`select r.id, r.conversation_id from conversation_runs r
      where ${waits} and ${budgetCalls.mayHaveRoom(sql`(r.pending_approvals -> 0 -> 'budget')`)}
      limit 1000`.execute(executor),
  );
  for (const { id, conversation_id } of rows) {
    await db.tx(async (tx) => {
      const conversation = await findLockedConversation(tx, conversation_id);
      const run = await findRun(tx, id);
      if (!conversation || run?.status !== 'needs_review') return;
      if (!run.pending_approvals?.some(({ kind }) => kind === 'budget')) return;
      await resumeRun(tx, conversation, run, systemActor.principal);
    });
  }
};
