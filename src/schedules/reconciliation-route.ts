import { z } from 'zod';
import type { Database } from '../database/index.ts';
import { jsonRoute, type Route, timestamp } from '../http/index.ts';
import { notFound, unprocessable } from '../lib/errors.ts';
import { readSettings } from '../settings/index.ts';
import { findFirstVersion, listDefinitionVersions } from './definition-store.ts';
import { reasonsOf } from './explain/reasons.ts';
import { lateAfterMs } from './lateness.ts';
import { listRecordedOccurrences } from './occurrence-store.ts';
import { nominalAt, type ReconciledOccurrence, reconcile } from './reconciliation.ts';
import { findNextRun, type ScheduleRow } from './store.ts';

const day = 86_400_000;
const maxSpanMs = 31 * day;
/** Occurrences in one response. */
const maxOccurrences = 10_000;

const instant = z.iso.datetime({ offset: true });

const query = z.object({
  from: instant.optional().describe('Occurrences strictly after this; default a day before `to`.'),
  to: instant.optional().describe('Occurrences up to and including this; default and maximum now.'),
  next: instant.optional().describe('The `next` of the response before; it replaces `from`.'),
});

const reconciledOccurrence = z
  .object({
    scheduled_for: timestamp.describe('The nominal time.'),
    status: z
      .enum(['on_time', 'late', 'caught_up', 'skipped', 'missing', 'due'])
      .describe(
        `\`on_time\`: became a Work Item within ${lateAfterMs / 1000} s; \`late\`: later, within the grace; \`due\`: its time has come and it is not dealt with yet; \`missing\`: nothing was recorded.`,
      ),
    work_item_id: z.string().nullable(),
    lateness_ms: z.int().nullable().describe('How long after its nominal time it was handled.'),
    reason: z.string().nullable().describe('Why it was skipped, late or caught up, in sentences.'),
  })
  .meta({ id: 'AccountedOccurrence' });

const reconciliation = z
  .object({
    data: z.array(reconciledOccurrence).describe(`The occurrences, oldest first, at most ${maxOccurrences}.`),
    has_more: z.boolean(),
    next: z.string().describe('Send it back as `?next=` with the same `to`; empty at the end.'),
    from: timestamp,
    to: timestamp,
    known_from: timestamp.describe(
      'Nothing is reported before this: the schedule did not exist yet, or its records are no longer kept.',
    ),
  })
  .meta({ id: 'ScheduleAudit' });

/** Returns the span (from, to] that a request names. Throws 422 if it ends before it begins or is too long. */
const spanOf = (request: z.output<typeof query>, now: number): { from: number; to: number } => {
  const to = Math.min(request.to === undefined ? now : Date.parse(request.to), now);
  const begin = request.next ?? request.from;
  const from = begin === undefined ? to - day : Date.parse(begin);
  if (from > to) {
    throw unprocessable([{ path: 'from', message: 'must not lie after `to`, nor in the future' }]);
  }
  if (to - from > maxSpanMs) {
    throw unprocessable([{ path: 'from', message: 'must lie at most 31 days before `to`' }]);
  }
  return { from, to };
};

/** Adds to each occurrence why it has its outcome; those that are recorded together share a reason. */
const withReasons = async (
  db: Database,
  timezone: string,
  occurrences: readonly ReconciledOccurrence[],
  now: number,
): Promise<z.input<typeof reconciliation>['data']> => {
  const rows = [...new Set(occurrences.flatMap(({ recorded }) => recorded ?? []))];
  const reasons = await db.run((executor) =>
    reasonsOf(
      executor,
      rows.map((row) => ({ ...row, timezone })),
      now,
    ),
  );
  const reasonOf = new Map(rows.map((row, k) => [row, reasons[k]!]));
  return occurrences.map(({ recorded, ...occurrence }) => ({
    ...occurrence,
    reason: (recorded && reasonOf.get(recorded)) ?? null,
  }));
};

const reconcileSchedule = async (
  db: Database,
  { id, timezone }: ScheduleRow,
  request: z.output<typeof query>,
): Promise<z.input<typeof reconciliation>> => {
  // The next run is read before the records: what it has passed by then has been recorded.
  const current = await db.run((executor) => findNextRun(executor, id));
  if (!current) throw notFound('schedule');
  const now = current.now.getTime();
  const { from, to } = spanOf(request, now);
  const { OCCURRENCE_RETENTION_DAYS: days } = await db.run(readSettings);
  const retainedFrom = days > 0 ? now - days * day : Number.NEGATIVE_INFINITY;
  const first = await db.run((executor) => findFirstVersion(executor, id));
  const knownFrom = Math.max(retainedFrom, first?.from_at.getTime() ?? to);
  const begin = Math.max(from, knownFrom);
  const definitions = await db.run((executor) =>
    listDefinitionVersions(executor, id, new Date(begin), new Date(to)),
  );
  // A schedule of every minute may have 45,000 occurrences in the span: no more than one response's are computed.
  const last = nominalAt(definitions, begin, to, maxOccurrences);
  const more = last !== null && nominalAt(definitions, last, to, 1) !== null;
  const end = last ?? to;
  const recorded = await db.run((executor) =>
    listRecordedOccurrences(executor, id, new Date(begin), new Date(end)),
  );
  return {
    data: await withReasons(
      db,
      timezone,
      reconcile({ definitions, recorded, nextRunAt: current.next_run_at }, begin, end),
      now,
    ),
    has_more: more,
    next: more ? new Date(end).toISOString() : '',
    from: new Date(from),
    to: new Date(to),
    known_from: new Date(knownFrom),
  };
};

/** Route that shows the outcome of every nominal occurrence of a schedule: the proof that none was lost. */
export const reconciliationRoute = (
  db: Database,
  find: (request: { params: Record<string, string> }) => Promise<ScheduleRow>,
): Route =>
  jsonRoute({
    id: 'auditSchedule',
    role: 'member',
    scope: 'schedules:read',
    base: 'app',
    request: 'GET /agents/{agent_id}/schedules/{schedule_id}/audit',
    summary: 'Reconcile a schedule',
    description:
      'Computes the nominal times in (`from`, `to`], at most 31 days, from the expression, zone and pauses that held then and from the present time-zone rules, and compares them with what was recorded.',
    otherStatuses: [400, 422],
    find,
    query,
    response: reconciliation,
    handler: ({ found, query }) => reconcileSchedule(db, found, query),
  });
