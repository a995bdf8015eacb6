import { z } from 'zod';
import type { Database } from '../../database/index.ts';
import { jsonRoute, pageOf, queryInteger, type Route, timestamp } from '../../http/index.ts';
import { occurrence, occurrenceWorkItem } from '../schemas.ts';
import type { ScheduleRow } from '../store.ts';
import { explainAt } from './explain.ts';
import { verdicts } from './verdicts.ts';
import { definitionVersion, inWords, pageOfVersions } from './versions.ts';

const reads = { role: 'member', scope: 'schedules:read', base: 'app' } as const;

const path = '/agents/{agent_id}/schedules/{schedule_id}';

const moment = z
  .object({ at: timestamp, local: z.string().describe('On the clocks of the zone, with its offset.') })
  .meta({ id: 'LocalMoment' });

const explanation = z
  .object({
    at: timestamp.describe('The beginning of the minute that was asked about.'),
    local: z.string(),
    nominal: z.boolean().describe('Whether the schedule was or is due then.'),
    nearest: z.object({ before: moment.nullable(), after: moment.nullable() }),
    definition: z
      .object({
        revision: z.int(),
        from: timestamp.describe('It held for what was due after this.'),
        expression: z.string(),
        description: z.string(),
        zone: z.string(),
        enabled: z.boolean(),
      })
      .nullable()
      .describe('The definition that held; null before the records.'),
    verdict: z
      .enum(verdicts)
      .describe(
        '`changed`: due only by an earlier or later definition; `blocked`: no time can be computed; `missing`: due, and nothing was recorded; `upcoming`: not yet.',
      ),
    occurrence: occurrence.nullable().describe('What was recorded.'),
    work_item: occurrenceWorkItem.nullable(),
    text: z.string().describe('The whole answer in sentences.'),
  })
  .meta({ id: 'ScheduleExplanation' });

type Find = (request: { params: Record<string, string> }) => Promise<ScheduleRow>;

const explain = async (
  db: Database,
  schedule: ScheduleRow,
  at: string,
): Promise<z.input<typeof explanation>> => {
  const { inForce, entry, clock, due, ...found } = await db.run((executor) =>
    explainAt(executor, schedule, at),
  );
  const shown = (instant: number | null) =>
    instant === null ? null : { at: new Date(instant), local: clock.iso(instant) };
  return {
    at: new Date(found.at),
    local: clock.iso(found.at),
    nominal: due !== null,
    nearest: { before: shown(found.before), after: shown(found.after) },
    definition: inForce && {
      revision: inForce.revision,
      from: inForce.from_at,
      expression: inForce.cron_expression,
      description: inWords(inForce.cron_expression),
      zone: inForce.timezone,
      enabled: inForce.enabled,
    },
    verdict: found.verdict,
    occurrence: entry,
    work_item: entry?.work_item ?? null,
    text: found.text,
  };
};

/** Routes that say why a schedule ran or did not, and how it came to be what it is. */
export const explainRoutes = (db: Database, find: Find): Route[] => [
  jsonRoute({
    ...reads,
    id: 'explainSchedule',
    request: `GET ${path}/explain`,
    summary: 'Explain a moment of a schedule',
    description:
      'Says why the schedule ran, or did not, in a minute: from its definition at that time and from what was recorded.',
    otherStatuses: [400],
    find,
    query: z.object({
      at: z.iso
        .datetime({ offset: true, local: true })
        .optional()
        .describe(
          'Any time of the minute: an instant or, without an offset, a local time in the zone of the schedule. Default now.',
        ),
    }),
    response: z.object({ data: explanation }).meta({ id: 'ScheduleExplanationResponse' }),
    handler: async ({ found, query }) => ({
      data: await explain(db, found, query.at ?? new Date().toISOString()),
    }),
  }),
  jsonRoute({
    ...reads,
    id: 'listScheduleVersions',
    request: `GET ${path}/history`,
    summary: 'List the versions of a schedule',
    description: 'What its definition was, who changed or paused it, when and why, newest first.',
    otherStatuses: [400],
    find,
    query: z.object({
      limit: queryInteger(1, 200, 50),
      next: z.string().optional().describe('The `next` of the page before, unchanged.'),
    }),
    response: pageOf('ScheduleVersionPage', definitionVersion),
    handler: ({ found, query }) => db.run((executor) => pageOfVersions(executor, found, query)),
  }),
];
