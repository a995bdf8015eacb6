import type { Peer } from './peer.ts';
import { message } from './platform.ts';
import { jobsIn } from './postgres-jobs.ts';

const from = `from graphile_worker._private_jobs job
  where run_at = $1 and task_id = (select id from graphile_worker._private_tasks where identifier = 'fire')`;

const quiet = () => () => {};

/**
 * One cron item for each schedule. Its documentation has no setting that affects crons: they are one statement a
 * minute.
 */
const cronItems: Peer = {
  name: 'graphile-worker',
  settings: 'default',
  defaultsOnly: false,
  store: 'postgres',
  resolutionMs: 60_000,
  start: async ({ url, load }, n, due) => {
    const { run, parseCronItems, Logger } = load('graphile-worker');
    const items = Array.from({ length: n }, (_, shop) => ({
      task: 'fire',
      match: '* * * * *',
      identifier: `schedule ${shop}`,
      payload: { shop, message },
    }));
    const runner = await run({
      connectionString: url,
      // A task with another name, so that the jobs are created and stay.
      taskList: { other: async () => {} },
      parsedCronItems: parseCronItems(items),
      noHandleSignals: true,
      logger: new Logger(quiet),
    });
    const { close, ...jobs } = await jobsIn(url, due, from, 'created_at');
    return { ...jobs, stop: async () => void (await Promise.all([runner.stop(), close()])) };
  },
};

/**
 * What its documentation advises instead of a cron item for each user: one item whose task adds all jobs by one call.
 * Then there are no schedules, only a list that something else must keep.
 */
const oneTask: Peer = {
  name: 'graphile-worker',
  settings: 'one cron item whose task adds all jobs by one call: no schedules',
  defaultsOnly: false,
  store: 'postgres',
  resolutionMs: 60_000,
  noSchedules: true,
  start: async ({ url, load }, n, due) => {
    const { run, parseCronItems, Logger } = load('graphile-worker');
    const runner = await run({
      connectionString: url,
      taskList: {
        fan_out: async (
          payload: { _cron: { ts: string } },
          helpers: { addJobs(jobs: unknown[]): Promise<unknown> },
        ) => {
          const runAt = new Date(payload._cron.ts);
          await helpers.addJobs(
            Array.from({ length: n }, (_, shop) => ({
              identifier: 'fire',
              payload: { shop, message },
              runAt,
              jobKey: `schedule ${shop} ${payload._cron.ts}`,
            })),
          );
        },
      },
      parsedCronItems: parseCronItems([{ task: 'fan_out', match: '* * * * *' }]),
      noHandleSignals: true,
      logger: new Logger(quiet),
    });
    const { close, ...jobs } = await jobsIn(url, due, from, 'created_at');
    return { ...jobs, stop: async () => void (await Promise.all([runner.stop(), close()])) };
  },
};

export const graphileWorker: readonly Peer[] = [cronItems, oneTask];
