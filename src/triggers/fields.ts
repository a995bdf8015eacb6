import { z } from 'zod';
import { optional, text } from '../http/index.ts';
import { nullable, required, withDefault } from '../resource/index.ts';

/** The definition of a trigger, its settings aside: its fields, each written once. */

const mapping = z.object({
  message: optional(text(10_000), '').describe('Text with `{{ expression }}`. Default empty.'),
  work_item_name: optional(text(500), null).describe('Text with `{{ expression }}`, cut at 200 characters.'),
  payload: optional(text(10_000), null).describe(
    'An expression that gives an object. null: `{id, type, source, subject, time, data}` of the event.',
  ),
});

const dedup = z.object({
  key: text(2_000, 1).describe('An expression that gives text, a number, a boolean or a list.'),
  window_seconds: optional(z.int().min(1).max(2_592_000), null).describe(
    'Seconds from the start of a Work Item in which its key starts no other. null: while the event is kept.',
  ),
});

const rateLimit = z.object({
  per_minute: z.int().min(1).max(60_000),
  over: z
    .enum(['queue', 'skip'])
    .describe('`queue`: the Work Item is made at once and starts later, within 24 h. `skip`: none is made.'),
});

const noMapping = { message: '', work_item_name: null, payload: null };

export const fields = {
  name: required(text(200, 1)).shownAs(z.string()),
  filter: nullable(text(2_000)).createdAs(
    'An expression in CEL of `event`. Events for which it is false start nothing. Default null: all start a Work Item.',
  ),
  mapping: withDefault(mapping, noMapping)
    .shownAs(
      z.object({
        message: z.string(),
        work_item_name: z.string().nullable(),
        payload: z.string().nullable(),
      }),
    )
    .json(),
  dedup: nullable(dedup)
    .createdAs(
      'At most one Work Item for each key in a window. The same event never starts a second one anyway.',
    )
    .shownAs(z.object({ key: z.string(), window_seconds: z.int().nullable() }).nullable())
    .json(),
  rate_limit: nullable(rateLimit)
    .createdAs('How many Work Items a minute: a bucket of `per_minute` that refills evenly.')
    .json(),
};
