import { expect, test } from 'vitest';
import { changeBudget, insertBudget } from '../../tests/harness/budgets.ts';
import { openMigrated, testedDatabases } from '../../tests/harness/database.ts';
import { sql } from '../database/index.ts';
import { newId } from '../lib/ids.ts';
import { silentLogger } from '../lib/log.ts';
import { BudgetExceeded } from './engine/refusals.ts';
import { createPeriods, readBudgets } from './engine/store.ts';
import { Notices } from './notices.ts';

test.each(testedDatabases)(
  'a refusal that is recorded after the limit was raised does not exhaust the raised limit (%s)',
  async (kind) => {
    await using db = await openMigrated(kind);
    const id = await insertBudget(db, { limit: 100 });
    const key = { budget_id: id, subject_id: '', starts_at: new Date(0), ends_at: null, period_id: newId() };
    const [periodId] = await db.tx((tx) => createPeriods(tx, [key]));
    const [budget] = (await db.run(readBudgets)).budgets;
    const refused = (limit: number) =>
      new BudgetExceeded({
        budget: budget!,
        subjectId: '',
        periodId: periodId!,
        spent: limit - 20,
        limit,
        bound: 50,
        endsAt: null,
      });
    const exhaustedAt = async () => {
      const { rows } = await db.run((executor) =>
        sql<{ at: number | null }>`select exhausted_at_limit as at from budget_periods`.execute(executor),
      );
      return rows[0]!.at;
    };
    const notices = new Notices(db, silentLogger);
    await changeBudget(db, id, { limit: 200 });
    await notices.exceeded(refused(100));
    expect(await exhaustedAt()).toBe(null);
    await notices.exceeded(refused(200));
    expect(await exhaustedAt()).toBe(200);
  },
);
