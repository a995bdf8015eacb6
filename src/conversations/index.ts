import type { Agents } from '../agents/index.ts';
import type { Budgets } from '../budgets/index.ts';
import { notify, type Tx } from '../database/index.ts';
import { type OpenStreams, Watcher } from '../event-streams/index.ts';
import type { Feature, Services } from '../feature.ts';
import { Loop } from '../lib/loop.ts';
import { counter } from '../lib/metrics.ts';
import { systemActor } from '../lib/principal.ts';
import { type ReviewSource, reviewCalls } from '../reviews/index.ts';
import type { Runtime } from '../runtime/index.ts';
import { createAsking } from './asking.ts';
import { resumeBudgetWaits } from './budget-waits.ts';
import { conversationRun } from './conversation-run.ts';
import { deleteOldEvents, eventsChannel } from './event-store.ts';
import { conversationRuns } from './kind.ts';
import { pageRoutes } from './page-routes.ts';
import { conversationReviews } from './review-source.ts';
import { conversationRoutes } from './routes.ts';
import { runRoutes } from './run-routes.ts';
import { runCancelsChannel, runsChannel } from './run-store.ts';
import { deleteEventsOfAgent, listLastSeqs, listOpenRuns } from './store.ts';

export { getConversation, keepConversation } from './conversations.ts';
export { readRunRecording } from './recording.ts';
export { findRun } from './run-store.ts';
export { ownsTrace } from './store.ts';

export interface ConversationNeeds {
  agents: Agents;
  budgets: Pick<Budgets, 'onRoom'>;
  runtime: Pick<Runtime, 'workerOf'>;
  openStreams: OpenStreams;
}

interface Conversations extends Feature {
  /** For the tool protocol. */
  asking: ReturnType<typeof createAsking>;
  /** For reviews. */
  reviews: ReviewSource;
}

/** Interval at which events that are not sent any more are removed, in milliseconds, and the number removed at once. */
const removeEveryMs = 15_000;
const removeAtOnce = 2_000;

/** Called before an agent is deleted, and its conversations with it: stops their runs and removes their events. */
const endConversations = async (tx: Tx, agentId: string): Promise<void> => {
  const open = await listOpenRuns(tx, agentId);
  for (const id of open) await notify(tx, runCancelsChannel, id);
  await reviewCalls.close(tx, 'run_id', open, systemActor.principal);
  await deleteEventsOfAgent(tx, agentId);
};

/** Conversations with agents: their messages, the runs that reply to them, and streams of what happens. */
export const createConversations = (
  services: Services,
  { agents, budgets, runtime, openStreams }: ConversationNeeds,
): Conversations => {
  const { db, log, settings } = services;
  budgets.onRoom(() => resumeBudgetWaits(db));
  agents.beforeDelete(endConversations);
  const finished = counter(
    'agent_platform_conversation_runs_finished_total',
    'Runs of conversations that ended on this replica, by the status that they were left in',
    ['status'],
  );
  for (const status of ['completed', 'needs_review', 'error']) finished.inc({ status }, 0);
  const worker = runtime.workerOf({
    name: 'conversation runs',
    runs: conversationRuns,
    channel: runsChannel,
    cancelsChannel: runCancelsChannel,
    limit: () => settings.get().MAX_CONCURRENT_CONVERSATION_RUNS,
    hold: (run, leaseSeconds) => conversationRun(db, log, run, leaseSeconds),
    onFinished: (status) => finished.inc({ status }),
  });
  const watcher = new Watcher({
    db,
    log,
    name: 'conversation streams',
    channel: eventsChannel,
    look: listLastSeqs,
  });
  const removal = new Loop({
    name: 'stream events',
    log,
    tick: async () =>
      (await db.run((executor) => deleteOldEvents(executor, removeAtOnce))) === removeAtOnce
        ? 0
        : removeEveryMs,
  });
  return {
    tag: { name: 'Conversations', description: 'Talking with a conversational agent.' },
    routes: [...conversationRoutes(db), ...runRoutes({ db, watcher, openStreams }), ...pageRoutes(db)],
    metrics: [finished],
    asking: createAsking(db, watcher),
    reviews: conversationReviews,
    start: async () => {
      worker.listen();
      watcher.listen();
    },
    loops: [
      { role: 'worker', start: worker.start, stop: worker.stop, pass: worker.pass },
      {
        role: 'worker',
        start: () => void removal.start(),
        stop: () => removal.stop(),
        pass: () => removal.pass(),
      },
      { role: 'api', start: () => watcher.start(), stop: () => watcher.stop(), pass: () => watcher.pass() },
    ],
  };
};
