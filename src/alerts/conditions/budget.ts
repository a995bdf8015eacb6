import { shownAmount } from '../../budgets/index.ts';
import { sql } from '../../database/index.ts';
import { isolate } from '../../lib/prose.ts';
import { paramsIn } from '../rules/narrowest.ts';
import type { Condition } from './condition.ts';

interface SpentBudget {
  id: string;
  name: string;
  unit: 'nano_usd' | 'tokens';
  of_person: boolean;
  spent: number;
  most: number;
}

/** Budgets of which much is spent in a period that has not ended. Of one for each subject, the fullest period counts. */
export const budget: Condition = {
  subjectOf: () => 'budget',
  ruleFor: (rules) => rules.narrowest({}),
  noun: 'budget',
  together: (budgets) => `${budgets} are nearly used up`,
  mayFind: () => sql`exists (select from budgets where enabled)`,
  find: async ({ tx, now, rules }) => {
    const rule = rules.narrowest({});
    if (!rule) return [];
    const { percent } = paramsIn(rule, 'budget');
    const at = new Date(now);
    const { rows } = await sql<SpentBudget>`
      select distinct on (b.id) b.id, b.name, b.unit, b.scope ->> 'kind' = 'person' as of_person, t.spent,
        b."limit" + p.extra as most
      from budgets b
      join lateral (
        (select id, starts_at, extra from budget_periods where budget_id = b.id and ends_at > ${at})
        union all
        (select id, starts_at, extra from budget_periods where budget_id = b.id and ends_at is null)
      ) p on p.starts_at <= ${at}
      join budget_totals t on t.period_id = p.id
      where b.enabled and t.spent::numeric * 100 > (b."limit" + p.extra)::numeric * ${percent}::integer
      order by b.id, t.spent::float8 / (b."limit" + p.extra) desc`.execute(tx);
    return rows.map(({ id, name, unit, of_person, spent, most }) => ({
      rule,
      subject: { id, name, agentId: null },
      cause: now,
      title: `More than ${percent} % of the budget ${isolate(name)} is spent`,
      detail: `${shownAmount(unit, spent)} of ${shownAmount(unit, most)} are spent in the present period.`,
      forAdmins: of_person,
    }));
  },
};
