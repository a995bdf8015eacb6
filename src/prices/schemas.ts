import { z } from 'zod';
import { checkedLater, givenTime, id, optional, pageOf, pageQuery, text, timestamp } from '../http/index.ts';
import { mapValues } from '../lib/objects.ts';
import { fields } from './fields.ts';

const { llm_id, model, rates, above, valid_from, valid_to } = fields;

const sources = z.enum(['own', 'catalogue']);

export const publicPrice = z
  .object({
    id,
    source: sources.describe('`catalogue`: a public price, bundled with the release.'),
    ...mapValues({ llm_id, model, rates, above }, ({ shown }) => shown),
    valid_from: timestamp,
    valid_to: timestamp.nullable(),
    created_at: timestamp,
  })
  .meta({ id: 'Price' });

const checkTimes = (
  { valid_from, valid_to }: { valid_from?: string | undefined; valid_to: string | null },
  context: z.RefinementCtx,
): void => {
  if (valid_from === undefined || valid_to === null || valid_from < valid_to) return;
  context.addIssue({ code: 'custom', path: ['valid_to'], message: 'must be after `valid_from`' });
};

export const createBody = z
  .object({
    llm_id: llm_id.create,
    model: model.create,
    rates: rates.create,
    above: above.create,
    valid_from: optional(valid_from.schema).describe('Default: now.'),
    valid_to: valid_to.create,
  })
  .superRefine(checkTimes)
  .meta({ id: 'CreatePriceBody' });

const fixed = checkedLater(z.unknown().describe('Cannot be changed.'));
const fixedNames = ['id', 'source', 'llm_id', 'model', 'rates', 'above', 'valid_from', 'created_at'] as const;

export const updateBody = z
  .object({
    valid_to: valid_to.patch,
    ...(Object.fromEntries(fixedNames.map((name) => [name, fixed])) as Record<
      (typeof fixedNames)[number],
      typeof fixed
    >),
  })
  .superRefine((body, context) => {
    for (const name of fixedNames) {
      if (body[name] === undefined) continue;
      const message = 'cannot be changed: end this price and create another one';
      context.addIssue({ code: 'custom', path: [name], message });
    }
  })
  .meta({ id: 'UpdatePriceBody' });

/** Prices in a workspace document, where the time tells apart those of one model. */
export const form = {
  fields,
  body: z
    .object(
      mapValues(fields, ({ create }) => create) as {
        [N in keyof typeof fields]: (typeof fields)[N]['create'];
      },
    )
    .superRefine(checkTimes),
};
export type PriceValues = z.output<typeof form.body>;

export const listQuery = pageQuery.extend({
  source: sources.optional(),
  llm_id: z.string().optional().describe('Those of this LLM configuration alone.'),
  model: text(500).optional().describe('Those of exactly this name.'),
  at: givenTime.optional().describe('Those that are valid at this time.'),
});
export const pricePage = pageOf('PricePage', publicPrice);

export const resolveQuery = z.object({
  llm_id: z.string().describe('The LLM configuration of the call. Its model is the requested one.'),
  model: text(500, 1).optional().describe('The name of the model in the reply.'),
  at: givenTime.optional().describe('The time of the call. Default: now.'),
});

export const resolvedPrice = z
  .object({
    price: publicPrice.nullable().describe('Null: no price is known.'),
    matched: z
      .enum(['price_as', 'reported', 'requested'])
      .nullable()
      .describe('The name that has the price.'),
    catalogue: z
      .object({
        name: z.string(),
        version: z.string(),
        date: z.string().describe('The day of its release.'),
      })
      .meta({ id: 'PriceCatalogue' }),
  })
  .meta({ id: 'ResolvedPrice' });
