import { type RawBuilder, sql } from '../../database/index.ts';

/** What a charge adds to one of its budgets, in the unit of the budget. */
export interface Settlement {
  period_id: string;
  /** Null: the charge has no share. */
  share_id: string | null;
  spent: number;
  /** The part of `spent` that was not reported, but assumed. */
  assumed: number;
}

/** The largest sum: workers may report any amount, and a larger number is not exact in JSON. */
const most = sql.lit(9e15);

/**
 * Returns expressions for a WITH, which add settlements to their budgets. `rows` is a jsonb list of `Settlement`. Rows are only
 * added, and nothing is locked: transactions that store charges never wait for each other, nor for those that grant.
 */
export const settleShares = (rows: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  settlements as (
    select period_id, share_id, sum(spent) as spent, sum(assumed) as assumed
    from jsonb_to_recordset(${rows}) as r(period_id uuid, share_id uuid, spent bigint, assumed bigint)
    group by period_id, share_id
  ), settled as (
    insert into budget_settlements (period_id, share_id, spent, assumed)
    select s.period_id, s.share_id, least(s.spent, ${most})::bigint, least(s.assumed, ${most})::bigint from settlements s
    where (s.spent <> 0 or s.assumed <> 0) and exists (select from budget_periods p where p.id = s.period_id)
  )`;
