import { z } from 'zod';
import { id, optional, pageOf, pageQuery, text, timestamp } from '../http/index.ts';
import { alertKinds, type SentMessage } from '../lib/announcer.ts';
import { severities } from '../lib/attention.ts';
import { sentMessages } from '../resource/index.ts';
import { subjectTypes } from './kinds.ts';
import type { AlertRow } from './store.ts';

export const alert = z
  .object({
    id,
    rule_id: id.describe('The rule may be deleted.'),
    kind: z.enum(alertKinds),
    severity: z.enum(severities),
    subject: z
      .object({ type: z.enum(subjectTypes), id: z.string(), name: z.string() })
      .nullable()
      .meta({ id: 'AlertSubject' })
      .describe('What it is about. null: no one thing, or more than 100, which are one alert.'),
    agent_id: id.nullable(),
    state: z.enum(['firing', 'resolved']),
    count: z.int().describe('How many things it is about, counted up to 1,000.'),
    title: z.string().describe('What is wrong, in one sentence without a full stop.'),
    detail: z.string().describe('Why, and what that means, in sentences.'),
    url: z.string().describe('Its page.'),
    fired_at: timestamp,
    resolved_at: timestamp.nullable(),
    acknowledged_at: timestamp.nullable(),
    acknowledged_by: z
      .object({
        kind: z.enum(['service_account', 'person', 'system', 'unknown']),
        id: z.string(),
        name: z.string(),
      })
      .nullable()
      .meta({ id: 'AlertActor' }),
    note: z.string().nullable().describe('What who acknowledged it wrote.'),
    messages: sentMessages.describe('Who is told of it, and whether they were. Empty below builder.'),
  })
  .meta({ id: 'Alert' });

export const alertPage = pageOf('AlertPage', alert);

export const listQuery = pageQuery.extend({
  state: z.enum(['firing', 'resolved']).optional(),
  kind: z.enum(alertKinds).optional(),
  rule_id: z.string().optional(),
  agent_id: z.string().optional(),
  acknowledged: z
    .enum(['true', 'false'])
    .optional()
    .transform((value) => (value === undefined ? undefined : value === 'true')),
});

export const acknowledgeBody = z
  .object({ note: optional(text(500), null) })
  .meta({ id: 'AcknowledgeAlertBody' });

/** An alert as the API shows it, at the address of the platform. */
export const toAlert = (
  { subject_type: type, subject_id: subjectId, subject_name: name, ...row }: AlertRow,
  publicUrl: string,
  messages: readonly SentMessage[] = [],
) => ({
  ...row,
  subject: type !== null && subjectId !== null ? { type, id: subjectId, name: name ?? subjectId } : null,
  url: `${publicUrl}/alerts/${row.id}`,
  messages: [...messages],
});
