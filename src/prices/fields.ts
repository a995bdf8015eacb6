import { z } from 'zod';
import { id, optional, text } from '../http/index.ts';
import { nullable, required } from '../resource/index.ts';
import { canonicalRate, type RateName, type Rates, rateNames } from './rates.ts';

const mostUsd = 1_000_000;
const decimal = /^(\d{1,6}(\.\d{1,6})?|1000000(\.0{1,6})?)$/;

/** A rate in a body, as a number or as text; it is kept as text. */
const rate = z
  .custom<number | string>(
    (value) => ['number', 'string'].includes(typeof value) && decimal.test(String(value)),
    'must be from 0 to 1,000,000 with at most 6 decimals',
  )
  .transform((value) => canonicalRate(String(value)))
  .meta({
    openapi: {
      anyOf: [
        { type: 'number', minimum: 0, maximum: mostUsd },
        { type: 'string', pattern: decimal.source },
      ],
    },
  });

const meanings: Record<RateName, string> = {
  input: 'Text of the prompt.',
  output: 'Text of the reply.',
  cache_read: 'What was read from a cache; default: `input`.',
  cache_write: 'What was written to a cache; default: `input`.',
  cache_write_1h: 'What was written to a cache for an hour; default: `cache_write`.',
  reasoning: 'Reasoning; default: `output`.',
  input_audio: 'Audio of the prompt; default: `input`.',
  output_audio: 'Audio of the reply; default: `output`.',
  request: 'USD for each call, besides its tokens; default: 0.',
};

const ratesOf = <S extends z.ZodType>(name: string, needed: S, other: z.ZodType) =>
  z
    .object(
      Object.fromEntries(
        rateNames.map((one) => [
          one,
          (one === 'input' || one === 'output' ? needed : other).describe(meanings[one]),
        ]),
      ),
    )
    .describe('USD per million tokens.')
    .meta({ id: name });

/** The shape is made of a table, which types cannot follow. */
const givenRates = ratesOf('GivenPriceRates', rate, optional(rate)) as unknown as z.ZodType<Rates>;
const shownRates = ratesOf('PriceRates', z.string(), z.string().optional()) as unknown as z.ZodType<Rates>;

const above = <S extends z.ZodType>(rates: S, input_tokens: z.ZodNumber) =>
  z.object({
    input_tokens: input_tokens.describe('Tokens of the prompt, cached ones included.'),
    rates: rates,
  });

/** A time in a body, kept in one form. */
const time = z.iso
  .datetime({ offset: true, error: 'must be a time such as 2026-01-31T08:00:00Z (RFC 3339)' })
  .transform((value) => new Date(value).toISOString());

const aboutAbove = 'The rates of calls with more tokens in their prompt than that, for all their tokens.';

/** The fields of a price that clients give. */
export const fields = {
  llm_id: nullable(id.describe('The LLM configuration whose calls have it; null: all.')).refersTo(
    'llm_configuration',
    'llm',
  ),
  model: required(
    text(500, 1).describe(
      'The name of the model; `*` stands for any text. Upper and lower case are the same.',
    ),
  ),
  rates: required(givenRates).shownAs(shownRates).json(),
  above: nullable(above(givenRates, z.int().min(0).max(1_000_000_000)).describe(aboutAbove))
    .shownAs(above(shownRates, z.int()).nullable())
    .json(),
  valid_from: required(time),
  valid_to: nullable(time.describe('Null: until further notice.')),
};
