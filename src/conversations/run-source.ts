import { hostname } from 'node:os';
import type { Services } from '../feature.ts';
import type { WorkSource } from '../runtime/index.ts';
import { conversationRun, recoverRun } from './conversation-run.ts';
import {
  type ConversationRun,
  claimRuns,
  listLockedLostRuns,
  lookForRuns,
  type RunStatus,
  runCancelsChannel,
  runsChannel,
} from './run-store.ts';

/** The runs of conversations, for the worker of this replica: a pool of their own next to that of Work Items. */
export const runSource = (
  { db, log, settings }: Pick<Services, 'db' | 'log' | 'settings'>,
  onFinished: (status: RunStatus) => void,
): WorkSource<ConversationRun, RunStatus> => {
  const owner = `${hostname()}:${process.pid}`;
  return {
    name: 'conversation runs',
    channel: runsChannel,
    cancelsChannel: runCancelsChannel,
    limit: () => settings.get().MAX_CONCURRENT_CONVERSATION_RUNS,
    leaseSeconds: () => settings.get().WORK_ITEM_LEASE_SECONDS,
    recover: async (tx, limit) => {
      const recovered: { id: string; status: RunStatus }[] = [];
      for (const run of await listLockedLostRuns(tx, limit)) {
        recovered.push({ id: run.id, status: await recoverRun(tx, run) });
      }
      return recovered;
    },
    claim: (tx, limit, leaseSeconds) => claimRuns(tx, { owner, limit, leaseSeconds }),
    look: lookForRuns,
    hold: (run, leaseSeconds) => conversationRun(db, log, run, leaseSeconds),
    onFinished,
  };
};
