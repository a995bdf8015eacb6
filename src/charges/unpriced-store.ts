import { type Executor, sql } from '../database/index.ts';

/** A model whose calls had no price when they were made. */
export interface UnpricedModel {
  llm_id: string | null;
  requested_model: string;
  /** As the endpoint reported it; null if it did not. */
  model: string | null;
  calls: number;
  last_at: Date;
}

/** So many of the newest calls without a price are looked at: installations without prices have millions. */
const mostCalls = 20_000;
const days = 30;
const mostModels = 200;

/** Models of calls of the last 30 days that had no price, those of most calls first. */
export const listUnpricedModels = async (executor: Executor): Promise<UnpricedModel[]> => {
  const { rows } = await sql<UnpricedModel>`
    select llm_id, requested_model, model, count(*)::integer as calls, max(started_at) as last_at
    from (
      select llm_id, requested_model, model, started_at from charges
      where status = 'unknown_price' order by id desc limit ${sql.lit(mostCalls)}
    ) newest
    where started_at >= platform_now() - interval '${sql.raw(String(days))} days'
    group by llm_id, requested_model, model
    order by calls desc, requested_model, model, llm_id limit ${sql.lit(mostModels)}`.execute(executor);
  return rows;
};
