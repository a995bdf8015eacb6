import { z } from 'zod';
import { id, jsonObject, pageOf, timestamp } from '../http/index.ts';

const nanoUsd = z.int().nullable().describe('In nano-USD (10⁻⁹ USD); null if no span reports one.');
const tokens = z.int().nullable().describe('Input and output; null if no span reports any.');
const names = z.array(z.string());

const summary = {
  trace_id: z.string().describe('32 hex digits.'),
  name: z
    .string()
    .describe('The name of the span without a parent; before it is here, of the earliest span.'),
  agent: z
    .object({ id: z.string(), name: z.string().nullable() })
    .nullable()
    .describe('The agent of the earliest span that names one.'),
  service: z.string().nullable().describe('`service.name` of the resource of the span that gives the name.'),
  started_at: timestamp,
  duration_ms: z.number(),
  status: z.enum(['ok', 'error']).describe('`error` if any span has an error.'),
  span_count: z.int(),
  tokens,
  cost_nano_usd: nanoUsd,
  models: names,
  tools: names,
  errors: names.describe('The types of the errors of its spans.'),
  work_item_id: id.nullable(),
  conversation_id: z.string().nullable(),
};

export const traceSummary = z.object(summary).meta({ id: 'TraceSummary' });
export const tracePage = pageOf('TracePage', traceSummary);

const spanFields = {
  span_id: z.string().describe('16 hex digits.'),
  parent_span_id: z.string().nullable(),
  name: z.string(),
  kind: z.enum(['unspecified', 'internal', 'server', 'client', 'producer', 'consumer']),
  type: z
    .enum(['agent', 'model', 'tool', 'other'])
    .describe('By the conventions of OpenTelemetry for generative AI.'),
  offset_us: z.int().describe('Microseconds from the start of the trace.'),
  duration_us: z.int(),
  status: z.enum(['ok', 'error']),
  error_type: z.string().nullable(),
  model: z.string().nullable(),
  tokens: z.int().nullable(),
  cost_nano_usd: z.int().nullable(),
  has_content: z.boolean().describe('Whether it has prompts, replies, arguments or results.'),
  event_count: z.int(),
};

export const traceSpan = z.object(spanFields).meta({ id: 'TraceSpan' });

export const traceDetail = z
  .object({
    ...summary,
    spans: z.array(traceSpan).describe('By their start.'),
    missing_parents: z
      .array(z.string())
      .describe('The ids of parents that are not among the spans of the trace.'),
    has_more: z.boolean().describe('Whether there are more spans.'),
    next: z.string().describe('Send it as `?next=` to get the next spans; empty at the end.'),
  })
  .meta({ id: 'Trace' });

export const spanDetail = z
  .object({
    trace_id: z.string(),
    ...spanFields,
    started_at: timestamp,
    status_message: z.string(),
    trace_state: z.string(),
    attributes: jsonObject.describe(
      'As they came. An integer beyond 2⁵³ is its digits as text, bytes are base64.',
    ),
    events: z.array(
      z.object({ name: z.string(), at: timestamp, offset_us: z.int(), attributes: jsonObject }),
    ),
    links: z.array(z.object({ trace_id: z.string(), span_id: z.string(), attributes: jsonObject })),
    resource: jsonObject.describe('The attributes of its resource.'),
    scope: z.object({ name: z.string(), version: z.string(), attributes: jsonObject }),
    step: z
      .object({ work_item_id: id, seq: z.int(), message_id: id.nullable() })
      .nullable()
      .describe('The step of the Work Item that the span is of, and the message that it stored.'),
  })
  .meta({ id: 'TraceSpanDetail' });

const count = z.int();

export const storeState = z
  .object({
    state: z
      .enum(['on', 'off', 'behind', 'failing'])
      .describe(
        '`behind`: spans wait for more than 10 seconds. `failing`: the last attempt to store failed.',
      ),
    accepted: count.describe('Spans that were routed to the store: `stored` + `dropped` + `queued`.'),
    stored: count,
    dropped: count.describe(
      'Left out, because the store was too far behind, or expired in the telemetry log.',
    ),
    queued: count,
    expired: count.describe('Of those that were stored, the ones that were removed since.'),
    bytes: count.describe('What the traces take in the database.'),
    oldest_at: timestamp.nullable().describe('When the oldest spans that are kept were stored.'),
    lag_seconds: z.int().describe('Age of the oldest span that is queued.'),
    last_error: z.string().nullable(),
  })
  .meta({ id: 'TraceStoreState' });
