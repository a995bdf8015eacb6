import type { Executor, Tx } from '../database/index.ts';
import type { Feature, Services } from '../feature.ts';
import type { Route } from '../http/index.ts';
import type { Actor } from '../lib/principal.ts';
import { deleteReplacedVersions } from './definition-store.ts';
import { type BatchAttributes, Firing } from './firing/firing.ts';
import { createFiringMetrics } from './firing/metrics.ts';
import { scheduleListRoutes } from './list/routes.ts';
import { deleteOldOccurrences } from './occurrence-store.ts';
import { scheduleAttention } from './overview/attention.ts';
import { ScheduleNumbers } from './overview/numbers.ts';
import { deleteSchedule, pauseSchedule, resumeSchedule } from './pauses.ts';
import { scheduleRoutes } from './routes.ts';
import { createSchedule, lockSchedule, replaceSchedule } from './schedules.ts';
import { type Definition, listAllSchedules, type ScheduleRow } from './store.ts';
import { timelineRoutes } from './timeline/routes.ts';
import type { CountEvents } from './timeline/timeline.ts';

export { fields as scheduleFields } from './fields.ts';
export { checkTimes } from './schedules.ts';
export { definition as scheduleDefinition } from './schemas.ts';

interface Needs {
  /** Counts the events of agents, for the timeline. */
  countEvents: CountEvents;
  tracing: {
    withSpan<T>(
      name: string,
      options: { application: true },
      fn: (span: { setAttributes(attributes: BatchAttributes): void }) => Promise<T>,
    ): Promise<T>;
  };
}

export interface Schedules extends Feature {
  /** Returns the schedules of all agents, the oldest first. */
  list(executor: Executor): Promise<ScheduleRow[]>;
  /** Throws 400 for refused times, and for one more than an agent may have. */
  create(tx: Tx, actor: Actor, agentId: string, definition: Definition): Promise<ScheduleRow>;
  replace(tx: Tx, actor: Actor, id: string, definition: Definition): Promise<ScheduleRow>;
  pause(tx: Tx, actor: Actor, id: string): Promise<ScheduleRow>;
  resume(tx: Tx, actor: Actor, id: string): Promise<ScheduleRow>;
  delete(tx: Tx, actor: Actor, id: string): Promise<void>;
  /** The operations of its pages, which the document lists with those of the application. */
  pageRoutes: readonly Route[];
  overview: { attention: typeof scheduleAttention; numbers: ScheduleNumbers };
  /** For tests that move the database's clock. */
  firing: Firing;
}

/** Schedules: each occurrence of a cron expression becomes one Work Item. */
export const createSchedules = ({ db, log }: Services, { tracing, countEvents }: Needs): Schedules => {
  const metrics = createFiringMetrics(db);
  const firing = new Firing({
    db,
    log,
    onFired: metrics.observe,
    span: (name, fn) =>
      tracing.withSpan(name, { application: true }, (span) =>
        fn((attributes) => span.setAttributes(attributes)),
      ),
  });
  return {
    tag: {
      name: 'Schedules',
      description:
        'A schedule creates Work Items for a Worker agent on a cron cadence, exactly one an occurrence.',
    },
    routes: scheduleRoutes(db),
    pageRoutes: [...scheduleListRoutes(db), ...timelineRoutes(db, countEvents)],
    overview: { attention: scheduleAttention, numbers: new ScheduleNumbers() },
    list: listAllSchedules,
    create: createSchedule,
    replace: async (tx, actor, id, definition) =>
      replaceSchedule(tx, actor, await lockSchedule(tx, id), definition),
    pause: async (tx, actor, id) => pauseSchedule(tx, actor, await lockSchedule(tx, id), undefined),
    resume: async (tx, actor, id) => resumeSchedule(tx, actor, await lockSchedule(tx, id)),
    delete: async (tx, actor, id) => deleteSchedule(tx, actor, await lockSchedule(tx, id)),
    retention: [
      (tx, settings, limit) => deleteOldOccurrences(tx, settings.OCCURRENCE_RETENTION_DAYS, limit),
      (tx, settings, limit) => deleteReplacedVersions(tx, settings.OCCURRENCE_RETENTION_DAYS, limit),
    ],
    // Before the loop starts, so that no write is missed between its first look and its first sleep.
    start: async () => firing.listen(),
    loops: [firing],
    metrics: metrics.list,
    firing,
  };
};
