import { z } from 'zod';
import { type Database, databaseNow, type Executor } from '../../database/index.ts';
import {
  id,
  jsonRoute,
  positionCursor,
  queryInteger,
  type Route,
  readPosition,
  timestamp,
} from '../../http/index.ts';
import { unprocessable } from '../../lib/errors.ts';
import { isId } from '../../lib/ids.ts';
import { readSettings } from '../../settings/index.ts';
import { definitionActions } from '../definition-store.ts';
import { agentName } from '../list/schemas.ts';
import { type Bucket, type Buckets, emptyBucket, type Grid } from './buckets.ts';
import { type CountEvents, type EventSums, listRows, plotEvents, plotRows } from './timeline.ts';
import { transitionsOf } from './transitions.ts';

const hour = 3_600_000;
const day = 24 * hour;
const defaultSpanMs = 12 * hour;
const mostDays = 31;
const mostChanges = 200;

const instant = z.iso.datetime({ offset: true });

const query = z.object({
  from: instant.optional().describe('Default 12 hours ago.'),
  to: instant.optional().describe('Not included; at most 31 days after `from`, default 12 hours ahead.'),
  buckets: queryInteger(1, 200, 96).describe('Into how many equal spans the time is divided.'),
  rows: z.enum(['schedules', 'agents']).default('schedules').describe('What a row is.'),
  agent_id: z.string().optional(),
  schedule_id: z.string().optional(),
  zone: z.string().max(100).optional().describe('The zone in which it is read, for `zone_transitions`.'),
  limit: queryInteger(1, 100, 50),
  next: z.string().optional().describe('The `next` of the page before, unchanged.'),
});

const counts = {
  on_time: z.int(),
  late: z.int(),
  caught_up: z.int(),
  skipped: z.int(),
  missing: z
    .int()
    .describe('Should have fired and did not: recorded with the cause `missed`, or not recorded at all.'),
  due: z.int().describe('Due, and not handled yet.'),
  expected: z.int().describe('Still to come.'),
  manual: z.int().describe('Run by hand.'),
} satisfies Record<keyof Bucket, z.ZodType>;

const events = z.object({
  fired: z.int().describe('Started a Work Item.'),
  other: z.int().describe('Started none, as the trigger says.'),
  failed: z.int().describe('Were invalid or lost.'),
} satisfies Record<keyof EventSums, z.ZodType>);

const bucket = z
  .object({
    t: timestamp.describe('Where it begins.'),
    ...counts,
    events: events
      .optional()
      .describe('Events of the triggers of an agent; absent in the row of a schedule.'),
  })
  .meta({ id: 'TimelineBucket' });

const row = z
  .object({
    type: z.enum(['schedule', 'agent']),
    id,
    name: z.string(),
    agent: agentName,
    zone: z.string().nullable().describe('Null if the schedules of the row have several.'),
    schedules: z.int().describe('0 if the agent has only triggers.'),
    buckets: z.array(bucket).describe('Those that are not empty, oldest first.'),
  })
  .meta({ id: 'TimelineRow' });

const timeline = z
  .object({
    data: z.array(row).describe('By name.'),
    has_more: z.boolean(),
    next: z.string().describe('Send it as `?next=` with the same span; empty at the end.'),
    now: timestamp,
    from: timestamp,
    to: timestamp,
    bucket_ms: z.int(),
    changes: z
      .array(
        z.object({
          at: timestamp,
          schedule_id: id,
          action: z.enum(definitionActions).nullable(),
          by: z.string().nullable(),
          text: z.string(),
        }),
      )
      .describe(`Changes and pauses of these schedules, oldest first, at most ${mostChanges}.`),
    zone_transitions: z
      .array(
        z.object({
          at: timestamp,
          zone: z.string(),
          kind: z.enum(['gap', 'repeat']),
          offset_before: z.string(),
          offset_after: z.string(),
          text: z.string(),
        }),
      )
      .describe('Changes of the clocks in the zones of these schedules and in `zone`.'),
  })
  .meta({ id: 'Timeline' });

const gridOf = (given: z.output<typeof query>, now: number): Grid => {
  const from = given.from === undefined ? now - defaultSpanMs : Date.parse(given.from);
  const to = given.to === undefined ? Math.max(from, now) + defaultSpanMs : Date.parse(given.to);
  if (to <= from) throw unprocessable([{ path: 'to', message: 'must lie after `from`' }]);
  if (to - from > mostDays * day) {
    throw unprocessable([{ path: 'to', message: `must lie at most ${mostDays} days after \`from\`` }]);
  }
  return { from, to, step: Math.max(1, Math.ceil((to - from) / given.buckets)), count: given.buckets };
};

const noEvents: EventSums = { fired: 0, other: 0, failed: 0 };

/** The buckets of a row that have something, oldest first. `events` is null in the row of a schedule. */
const bucketsOf = (grid: Grid, occurrences: Buckets, events: Map<number, EventSums> | null) =>
  [...new Set([...occurrences.keys(), ...(events?.keys() ?? [])])]
    .sort((a, b) => a - b)
    .map((k) => ({
      t: new Date(grid.from + k * grid.step),
      ...(occurrences.get(k) ?? emptyBucket()),
      ...(events ? { events: events.get(k) ?? noEvents } : {}),
    }));

const readTimeline = async (
  executor: Executor,
  countEvents: CountEvents,
  given: z.output<typeof query>,
): Promise<z.input<typeof timeline>> => {
  const now = await databaseNow(executor);
  const grid = gridOf(given, now);
  const { OCCURRENCE_RETENTION_DAYS: days } = await readSettings(executor);
  const retainedFrom = days > 0 ? now - days * day : Number.NEGATIVE_INFINITY;
  const position = readPosition(given.next, `timeline ${given.rows}`, ['text', 'id']);
  const { agent_id: agentId = null, schedule_id: scheduleId = null } = given;
  const isUnknown = [agentId, scheduleId].some((one) => one !== null && !isId(one));
  const { rows, more } = isUnknown
    ? { rows: [], more: false }
    : await listRows(executor, given.rows, {
        agentId,
        scheduleId,
        after: position && { name: position[0], id: position[1] },
        limit: given.limit,
      });
  const { buckets, changes } = await plotRows(executor, rows, grid, now, retainedFrom);
  const ofAgents = given.rows === 'agents';
  const events = ofAgents
    ? await plotEvents(
        executor,
        countEvents,
        rows.map(({ id }) => id),
        grid,
        now,
      )
    : null;
  const zones = rows.flatMap(({ schedules }) => schedules.map(({ timezone }) => timezone));
  const last = rows.at(-1);
  return {
    data: rows.map(({ schedules, sort_name: _, ...shown }) => ({
      ...shown,
      type: ofAgents ? 'agent' : 'schedule',
      schedules: schedules.length,
      buckets: bucketsOf(grid, buckets.get(shown.id)!, events?.get(shown.id) ?? null),
    })),
    has_more: more,
    next: more && last ? positionCursor(`timeline ${given.rows}`, [last.sort_name, last.id]) : '',
    now: new Date(now),
    from: new Date(grid.from),
    to: new Date(grid.to),
    bucket_ms: grid.step,
    changes: changes
      .map(({ row, text }) => ({
        at: row.from_at,
        schedule_id: row.schedule_id,
        action: row.action,
        by: row.principal?.name ?? null,
        text,
      }))
      .sort((a, b) => a.at.getTime() - b.at.getTime())
      .slice(0, mostChanges),
    zone_transitions: transitionsOf([...zones, ...(given.zone ? [given.zone] : [])], grid.from, grid.to),
  };
};

export const timelineRoutes = (db: Database, countEvents: CountEvents): Route[] => [
  jsonRoute({
    id: 'getScheduleTimeline',
    role: 'member',
    scope: 'schedules:read',
    base: 'app',
    request: 'GET /schedules/timeline',
    summary: 'Get the timeline of schedules',
    description:
      'What happened to the occurrences of a span of time, from the records, and what is to come, from the expressions. Rows of agents also have the events of their triggers.',
    otherStatuses: [400],
    query,
    cache: ({ now: _, ...content }) => content,
    response: timeline,
    handler: ({ query: given }) => db.run((executor) => readTimeline(executor, countEvents, given)),
  }),
];
