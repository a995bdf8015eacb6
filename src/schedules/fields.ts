import { z } from 'zod';
import { jsonObject, text } from '../http/index.ts';
import { nullable, required, withDefault } from '../resource/index.ts';

/** The definition of a schedule: its fields, each written once. */

/**
 * Policies for an occurrence that is due while a Work Item of the schedule is still running: the schedule fires all the
 * same, does not fire, or requests that the earlier Work Items be cancelled and fires.
 */
export const overlaps = ['queue', 'skip', 'cancel_previous'] as const;

const expression = z.string().meta({
  description: '5-field cron: minute, hour, day of month, month, day of week.',
  openapi: { type: 'string', minLength: 1, maxLength: 1_000, examples: ['0 9 * * MON-FRI'] },
});
const zone = z.string().meta({ openapi: { type: 'string', minLength: 1, examples: ['Europe/Berlin'] } });

export const fields = {
  cron_expression: required(expression).shownAs(z.string().describe('Standard 5-field cron expression.')),
  timezone: withDefault(zone, 'UTC')
    .createdAs('IANA name; default UTC.')
    .shownAs(z.string().describe('IANA timezone in which the cron expression is evaluated.')),
  catch_up: withDefault(z.boolean(), true)
    .createdAs('Default true.')
    .shownAs(
      z
        .boolean()
        .describe(
          'When an occurrence is missed (for example during downtime), run once, then advance to the next.',
        ),
    ),
  overlap: withDefault(z.enum(overlaps), 'queue')
    .createdAs(
      'What happens to an occurrence that is due while a Work Item of the schedule is PENDING, EXECUTING, NEEDS_REVIEW or INDETERMINATE. `queue`: it fires all the same; `skip`: it is skipped; `cancel_previous`: the cancel of the PENDING, EXECUTING and NEEDS_REVIEW ones is requested, and it fires. Default `queue`.',
    )
    .shownAs(
      z
        .enum(overlaps)
        .describe('What happens to an occurrence that is due while a Work Item of the schedule is running.'),
    ),
  work_item_name: nullable(text(200)).shownAs(
    z.string().nullable().describe('Name given to created Work Items.'),
  ),
  message: withDefault(text(10_000), '')
    .createdAs('At most 10,000 characters.')
    .shownAs(z.string().describe('Message included in each created Work Item.')),
  payload: withDefault(jsonObject, {} as Record<string, unknown>)
    .shownAs(jsonObject.describe('Payload included in each created Work Item.'))
    .json(),
  metadata: withDefault(jsonObject, {} as Record<string, unknown>)
    .shownAs(jsonObject.describe('Free-form metadata (the application keeps its picker UI state here).'))
    .json(),
};
