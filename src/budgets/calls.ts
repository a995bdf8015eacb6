import { audit } from '../audit/index.ts';
import { notify, type RawBuilder, sql, type Tx } from '../database/index.ts';
import type { Actor } from '../lib/principal.ts';
import { budgetsChannel } from './engine/engine.ts';

/** Calls of other features that need only their transaction. */

interface Extension {
  budget_id: string;
  period_id: string;
  /** In the unit of the budget. */
  extra: number;
}

/** Adds to the limit of one period. Nothing happens if it is gone, or if nothing is added. */
const extend = async (tx: Tx, actor: Actor, { budget_id, period_id, extra }: Extension): Promise<void> => {
  if (extra > 0) {
    const { rows } = await sql<{ name: string; extra: number }>`update budget_periods p
      set extra = least(p.extra::numeric + ${extra}, 9e15)::bigint from budgets b
      where p.id = ${period_id} and b.id = p.budget_id and b.id = ${budget_id} returning b.name, p.extra`.execute(
      tx,
    );
    for (const { name, extra: all } of rows)
      await audit(tx, actor, 'budget.extend', budget_id, { name, period_id, added: extra, extra: all });
  }
  await notify(tx, budgetsChannel);
};

/**
 * Returns a condition: a budget may have room for what waits for it. `wait` is an expression of {budget_id, period_id, limit}
 * (jsonb), the limit being that which left none.
 */
const mayHaveRoom = (wait: RawBuilder<unknown>): RawBuilder<boolean> => sql<boolean>`not exists (
  select from budgets b join budget_periods p on p.budget_id = b.id
  where b.id = (${wait} ->> 'budget_id')::uuid and p.id = (${wait} ->> 'period_id')::uuid and b.enabled
    and b."limit" + p.extra <= (${wait} ->> 'limit')::bigint
    and (p.ends_at is null or p.ends_at > platform_now()))`;

export const budgetCalls = { extend, mayHaveRoom };
