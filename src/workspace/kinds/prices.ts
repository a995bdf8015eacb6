import { type Price, type Prices, priceForm } from '../../prices/index.ts';
import type { Item, Kind } from '../kind.ts';
import { resourceKind } from '../resource-kind.ts';

/** The time in the form of `valid_from`, so that a document finds it in whatever form it writes it. */
const sameForm = (time: unknown): unknown => {
  const parsed = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  return Number.isNaN(parsed) ? time : new Date(parsed).toISOString();
};

const keyOf = ({ llm_id, model, valid_from }: Price): string =>
  JSON.stringify([llm_id, model, valid_from.getTime()]);

/**
 * Own prices. Rates never change: other rates in a document are a new price, which comes before the one of the same
 * configuration, model and time. What charges name is ended in place of being deleted, and an ended price stays.
 */
export const priceKind = (prices: Prices): Kind =>
  resourceKind({
    ...priceForm,
    kind: 'price',
    key: 'prices',
    namedBy: ['llm', 'model', 'valid_from'],
    identify: ({ llm, model, valid_from }) => ({ llm: llm ?? null, model, valid_from: sameForm(valid_from) }),
    nameOf: ({ llm, model, valid_from }) =>
      `${model}${typeof llm === 'string' ? ` (${llm})` : ''} from ${sameForm(valid_from)}`,
    list: async (executor, names) => {
      const now = Date.now();
      const all = await prices.list(executor);
      // The latest of those that would have one name. Those of a deleted configuration match nothing.
      const latest = new Map(all.map((price) => [keyOf(price), price]));
      return [...latest.values()]
        .filter(({ llm_id }) => llm_id === null || names('llm_configuration').has(llm_id))
        .map(({ id, source: _, created_at: __, valid_from, valid_to, ...values }) => ({
          id,
          values: {
            ...values,
            valid_from: valid_from.toISOString(),
            valid_to: valid_to?.toISOString() ?? null,
          },
          builtIn: valid_to !== null && valid_to.getTime() <= now,
        }));
    },
    references: ({ llm }: Item) =>
      typeof llm === 'string' ? [{ path: 'llm', kind: 'llm_configuration', name: llm, weak: true }] : [],
    create: ({ tx, actor }, body) => prices.create(tx, actor, body),
    update: async ({ tx, actor }, id, body, _item, changed) => {
      if (changed.size === 1 && changed.has('valid_to')) return prices.end(tx, actor, id, body.valid_to);
      await prices.remove(tx, actor, id);
      return prices.create(tx, actor, body);
    },
    remove: ({ tx, actor }, { id }) => prices.remove(tx, actor, id),
    afterwards: (run) => run.afterwards('prices', prices.changed),
  });
