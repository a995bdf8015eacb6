import { z } from 'zod';
import { type Executor, type RawBuilder, sql } from '../database/index.ts';
import { cappedSum } from './charge.ts';

/** What calls of models of an agent or a schedule cost of late, in nano-USD, without calls whose amount is unknown. */
export interface RecentCost {
  last_24h: number;
  last_30d: number;
}

const amount = z.int().describe('In nano-USD, without calls whose amount is unknown.');
export const recentCostField = z.object({ last_24h: amount, last_30d: amount }).meta({ id: 'RecentCost' });

/** The recent cost of what `column` of a charge names, as a `RecentCost` in jsonb. */
export const recentCost = (
  column: 'agent_id' | 'schedule_id',
  id: RawBuilder<unknown>,
): RawBuilder<RecentCost> => sql`(
  select jsonb_build_object('last_30d', ${cappedSum(sql`sum(c.amount_nano_usd)`)},
    'last_24h', ${cappedSum(sql`sum(c.amount_nano_usd)
      filter (where c.started_at > platform_now() - interval '24 hours')`)})
  from charges c where ${sql.ref(`c.${column}`)} = ${id} and c.started_at > platform_now() - interval '30 days')`;

const since = (from: RawBuilder<unknown>, to: RawBuilder<unknown> | null = null) => sql`(
  select jsonb_build_object('cost', ${cappedSum(sql`sum(amount_nano_usd)`)},
    'unknown', count(*) filter (where amount_nano_usd is null))
  from charges where started_at >= ${from} ${to ? sql`and started_at < ${to}` : sql``})`;

/** What the workspace spent, in nano-USD: days and months are those of UTC. */
export interface Spent {
  today: number;
  yesterday_same_time: number;
  month: number;
  unknown_calls: number;
}

/** Reads every charge of the month: 0.15 s for a million of them. */
export const findSpent = async (executor: Executor): Promise<Spent> => {
  const day = sql`date_trunc('day', platform_now(), 'UTC')`;
  const yesterday = sql`(${day} - interval '1 day')`;
  const { rows } = await sql<Record<'today' | 'yesterday' | 'month', { cost: number; unknown: number }>>`
    select ${since(day)} as today, ${since(yesterday, sql`platform_now() - interval '1 day'`)} as yesterday,
      ${since(sql`date_trunc('month', platform_now(), 'UTC')`)} as month`.execute(executor);
  const { today, yesterday: before, month } = rows[0]!;
  return {
    today: today.cost,
    yesterday_same_time: before.cost,
    month: month.cost,
    unknown_calls: month.unknown,
  };
};

/** The models whose calls since `from` had no price, those with the most calls first. */
export const listUnpriced = async (
  executor: Executor,
  from: Date,
): Promise<{ model: string; calls: number; since: Date }[]> => {
  const { rows } = await sql<{ model: string; calls: number; since: Date }>`
    select coalesce(model, requested_model) as model, count(*)::integer as calls, min(started_at) as since
    from charges where status = 'unknown_price' and started_at > ${from} group by 1
    order by calls desc, model limit 100`.execute(executor);
  return rows;
};
