import { isZoneName } from '@agent-platform/cron';
import { z } from 'zod';
import { id, optional, text } from '../http/index.ts';
import { nullable, required, withDefault } from '../resource/index.ts';
import { periodKinds } from './engine/periods.ts';
import { actions, scopeKinds, units } from './engine/store.ts';

/** The fields of a budget, each written once. */

const mostPercents = 5;

const scope = z
  .object({
    kind: z
      .enum(scopeKinds)
      .describe(
        '`api_key`: a service account, by the id of its first key, which rotations keep. Personal keys count for their person.',
      ),
    id: optional(id, null).describe('null: each of the kind has the limit for itself.'),
  })
  .transform(({ kind, id: given }) => ({ kind, id: given?.toLowerCase() ?? null }))
  .meta({ id: 'BudgetScope' });

const shownScope = z
  .object({ kind: z.enum(scopeKinds), id: id.nullable() })
  .meta({ id: 'ShownBudgetScope' })
  .describe('The calls that it counts. `id` null: each of the kind has the limit for itself.');

const percent = z.int().min(1).max(99);

export const fields = {
  name: required(text(200, 1).describe('Unique.')),
  scope: required(scope.describe('The calls that it counts.'))
    .shownAs(shownScope)
    .fixed('Cannot be changed.')
    .json(),
  unit: required(z.enum(units).describe('`nano_usd`: 1 USD is 1,000,000,000.')).fixed('Cannot be changed.'),
  limit: required(z.int().min(1).max(9e15).describe('What may be spent in a period, in the unit.')),
  period: required(z.enum(periodKinds).describe('Weeks begin on Monday. `total`: it never ends.')).fixed(
    'Cannot be changed.',
  ),
  timezone: withDefault(
    z
      .string()
      .refine(isZoneName, 'is no IANA time zone; write one in its own spelling, such as Europe/Berlin')
      .describe('IANA name. Periods begin at midnight there.'),
    'UTC',
  )
    .shownAs(z.string())
    .fixed('Cannot be changed.'),
  action: withDefault(
    z
      .enum(actions)
      .describe(
        'If nothing is left: `refuse` the call, let the Work Item `wait` for the next period, `ask` an administrator. `cheaper`: from `from_percent` on calls go to `llm_id`.',
      ),
    'refuse',
  ),
  llm_id: nullable(id.describe('The LLM configuration of `cheaper`; null otherwise.')).refersTo(
    'llm_configuration',
    'llm',
  ),
  from_percent: withDefault(percent.describe('The part of the limit from which on `cheaper` applies.'), 80),
  notify_percent: withDefault(
    z
      .array(percent)
      .max(mostPercents)
      .describe(`The parts of the limit that are notified when they are reached. At most ${mostPercents}.`),
    [50, 80],
  ).json(),
  enabled: withDefault(z.boolean().describe('A disabled budget counts, and limits nothing.'), true),
};
