import { sql, type Tx } from '../database/index.ts';

/** Deletes at most `limit` periods that ended more than `days` days ago, and what was spent in periods that are gone. */
export const deleteOldPeriods = async (tx: Tx, days: number, limit: number): Promise<number> => {
  const { rows } = await sql`delete from budget_periods where id in (
      select p.id from budget_periods p where p.ends_at < platform_now() - make_interval(days => ${days})
        and not exists (select from budget_shares s where s.period_id = p.id) limit ${limit})
    returning 1`.execute(tx);
  await sql`delete from budget_settlements l
    where not exists (select from budget_periods p where p.id = l.period_id)`.execute(tx);
  return rows.length;
};
