import type { Overview } from '../../api/types.gen.ts';
import { Figures } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { cost } from '../../text/en/cost.ts';
import { overview as words } from '../../text/en/overview.ts';
import { usd } from '../../text/index.ts';

/** What calls of models cost, today and in this month. */
export const CostFigures = ({ costs }: { costs: NonNullable<Overview['costs']> }) => (
  <Figures
    title={words.costs}
    figures={[
      {
        name: words.today,
        value: usd(costs.today),
        note: words.yesterday(usd(costs.yesterday_same_time)),
        href: to('/costs', {}, { days: '7' }),
      },
      {
        name: words.month,
        value: cost.amount(costs.month, costs.unknown_calls),
        href: to('/costs'),
      },
    ]}
  />
);
