import type { DataFrames } from '../../data-frames/index.ts';
import type { Executor, Tx } from '../../database/index.ts';
import type { Feature, Services } from '../../feature.ts';
import type { Files } from '../../files/index.ts';
import { Loop } from '../../lib/loop.ts';
import { counter } from '../../lib/metrics.ts';
import type { LlmConfigurations } from '../../llm-configurations/index.ts';
import type { Runtime } from '../../runtime/index.ts';
import type { Settings } from '../../settings/index.ts';
import type { Tracing } from '../../telemetry/index.ts';
import type { CaseContent } from '../cases/content.ts';
import { createPatternMatcher } from '../graders/regex.ts';
import { outcomes, trialEndsChannel } from './kind.ts';
import { experimentPageRoutes } from './page-routes.ts';
import { experimentRoutes } from './routes.ts';
import { deleteOldExperiments, finishExperiments } from './store.ts';
import { trialRoutes } from './trial-routes.ts';
import { trialSource } from './trial-source.ts';

export { checkDatasetIdle } from './experiments.ts';
export { keepTrial } from './frames.ts';

export interface ExperimentNeeds {
  runtime: Pick<Runtime, 'workerOf' | 'openTools'>;
  llms: Pick<LlmConfigurations, 'ask'>;
  files: Pick<Files, 'bytes'>;
  dataFrames: Pick<DataFrames, 'forAgents'>;
  tracing: Tracing;
  /** The content of one revision of a case; undefined if it is gone. */
  readCase(executor: Executor, caseId: string, revision: number): Promise<CaseContent | undefined>;
}

type Experiments = Feature & Required<Pick<Feature, 'routes' | 'retention' | 'start' | 'loops'>>;

/** Interval at which ends are looked for whose notification was lost, in milliseconds. */
const endsEveryMs = 30_000;

/** Experiments: the pool of trials of a replica, and the operations on what they did. */
export const createExperiments = (
  services: Services,
  { runtime, llms, files, dataFrames, tracing, readCase }: ExperimentNeeds,
): Experiments => {
  const { db, log } = services;
  const finished = counter(
    'agent_platform_trials_finished_total',
    'Trials that ended on this replica, by their outcome',
    ['outcome'],
  );
  for (const outcome of outcomes) finished.inc({ outcome }, 0);
  const matcher = createPatternMatcher();
  const worker = runtime.workerOf(
    trialSource(services, {
      openTools: runtime.openTools,
      frames: dataFrames.forAgents,
      bytes: files.bytes,
      matcher,
      tracing,
      openJudge: (llmId) => llms.ask(llmId === null ? {} : { llmId }),
      readCase,
      onEnded: (outcome) => finished.inc({ outcome }),
    }),
  );
  const ends = new Loop({
    name: 'ends of experiments',
    log,
    tick: async () => {
      await db.run(finishExperiments);
      return endsEveryMs;
    },
  });
  return {
    routes: [
      ...experimentRoutes(db),
      ...trialRoutes({ db, readCase }),
      ...experimentPageRoutes({ db, readCase }),
    ],
    metrics: [finished],
    retention: [
      async (tx: Tx, { EXPERIMENT_RETENTION_DAYS: days }: Settings, limit: number) =>
        days === 0 ? 0 : deleteOldExperiments(tx, days, limit),
    ],
    start: async () => {
      worker.listen();
      db.listen(trialEndsChannel, () => ends.wake());
    },
    stop: () => matcher.close(),
    loops: [
      { role: 'worker', start: worker.start, stop: worker.stop, pass: worker.pass },
      { role: 'worker', start: () => void ends.start(), stop: () => ends.stop(), pass: () => ends.pass() },
    ],
  };
};
