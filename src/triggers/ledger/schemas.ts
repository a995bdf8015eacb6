import { z } from 'zod';
import { givenTime, id, limit, pageOf, text, timestamp } from '../../http/index.ts';
import { statuses } from '../../work-items/index.ts';
import { definitionActions } from '../definition-store.ts';
import { outcomes } from '../deliveries/delivery.ts';
import { kinds, shownSettings } from '../settings.ts';
import { triggers } from '../store.ts';

const eventWorkItem = z
  .object({
    id,
    status: z.enum(statuses),
    attempts: z.int(),
    duration_ms: z.int().nullable().describe('How long its last attempt took; null unless it has ended.'),
    error: z.object({ code: z.string(), message: z.string().describe('At most 200 characters.') }).nullable(),
  })
  .meta({ id: 'EventWorkItem' });

export const entry = z
  .object({
    id,
    source: z.enum(kinds),
    event_id: z.string().describe("The sender's name for the event."),
    type: z.string().nullable(),
    at: timestamp.describe('When it first came.'),
    outcome: z.enum(outcomes),
    reason: z.string().nullable().describe('Why it has its outcome, in a sentence.'),
    work_item_id: id.nullable(),
    work_item: eventWorkItem.nullable().describe('Null if there is none, or none any more.'),
    starts_at: timestamp.nullable().describe('When its Work Item starts; null unless it was queued.'),
    deliveries: z.int().describe('How often it came.'),
    differing: z.int().describe('How often it came with another body than the first time.'),
    last_delivery_at: timestamp,
    original_id: id
      .nullable()
      .describe(
        'Of a duplicate the entry that started the Work Item; of a redelivery the entry that was redelivered.',
      ),
    body_kept: z.boolean().describe('Whether its headers and body are still there.'),
    revision: z.int().describe('The revision of the trigger that decided.'),
    by: z.string().nullable().describe('Who redelivered it.'),
  })
  .meta({ id: 'TriggerEvent' });

export const entryDetail = entry
  .extend({
    headers: z
      .record(z.string(), z.string())
      .nullable()
      .describe('Without credentials and signatures; null once gone.'),
    body: z.string().nullable().describe('As it arrived; null once gone, and if it is not in UTF-8.'),
  })
  .meta({ id: 'TriggerEventDetail' });

export const eventsQuery = z.object({
  outcome: z.enum(outcomes).optional(),
  from: givenTime.optional().describe('First delivered after this.'),
  to: givenTime.optional().describe('First delivered up to and including this.'),
  q: text(500).optional().describe("How the sender's name of the event begins."),
  limit,
  next: z.string().optional().describe('The `next` of the page before, unchanged.'),
});

const { shown } = triggers;

export const version = z
  .object({
    revision: z.int(),
    at: timestamp.describe('It holds for what came after this.'),
    action: z.enum(definitionActions),
    by: z.object({ kind: z.string(), id: z.string(), name: z.string() }),
    reason: z.string().nullable().describe('In the words of who did it.'),
    enabled: z.boolean(),
    name: z.string(),
    settings: shownSettings,
    filter: shown.filter,
    mapping: shown.mapping,
    dedup: shown.dedup,
    rate_limit: shown.rate_limit,
    changed: z.array(z.string()).nullable().describe('The fields that an update changed.'),
    text: z.string().describe('What changed, in a sentence.'),
  })
  .meta({ id: 'TriggerVersion' });

export const versionPage = pageOf('TriggerVersionPage', version);

export const eventPage = pageOf('TriggerEventPage', entry)
  .extend({
    changes: z
      .array(version)
      .describe('The versions of the trigger that began between these events, newest first.'),
  })
  .meta({ id: 'TriggerEventPage' });

export const counts = z
  .record(z.string(), z.int())
  .describe(
    'By outcome, with `refused` requests and `repeated` deliveries; what there was none of is left out.',
  );

const verdicts = [...outcomes, 'not_received', 'moment'] as const;

export const explanation = z
  .object({
    verdict: z
      .enum(verdicts)
      .describe(
        'The outcome of the event; `not_received`: none with this name came; `moment`: a time was asked about.',
      ),
    text: z.string().describe('The whole answer in sentences.'),
    occurrence: entry.nullable(),
    work_item: eventWorkItem.nullable(),
    definition: version.nullable().describe('The version that decided, or that held at the time.'),
    counts: counts.describe('Of the minute around the time, or of the last 24 hours.'),
  })
  .meta({ id: 'TriggerExplanation' });
