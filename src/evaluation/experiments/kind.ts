import { type Executor, notify, sql } from '../../database/index.ts';
import type { RunUsage } from '../../lib/usage.ts';
import { createRuns, type RunRow } from '../../runs/index.ts';

/** The channel that notifies workers of trials that may be claimed. */
export const trialsChannel = 'trials';
/** The channel that notifies the worker of a trial that it was cancelled; the payload is its id. */
export const trialCancelsChannel = 'trial_cancels';
/** The channel that says that the last trial of an experiment may have ended. */
export const trialEndsChannel = 'trial_ends';

export type TrialStatus = 'queued' | 'running' | 'completed' | 'needs_review' | 'error' | 'cancelled';
export const outcomes = ['completed', 'failed', 'diverged', 'error', 'cancelled'] as const;
export type Outcome = (typeof outcomes)[number];

/** A trial as its worker has it. */
export interface Trial extends RunRow {
  experiment_id: string;
  agent_id: string;
  case_id: string;
  case_revision: number;
  case_name: string;
  repetition: number;
  status: TrialStatus;
  outcome: Outcome | null;
  usage: RunUsage | null;
  model: string | null;
  reused_from: string | null;
  attempts: number;
  fencing: number;
  created_by: string;
}

/** A trial of a lost worker begins again from the start so often. */
const mostRestarts = 5;

/** Trials as runs. Nothing of one is stored before its end, so that each attempt begins from the start. */
export const trialRuns = createRuns<Trial>({
  table: 'trials',
  columns: sql`w.id, w.experiment_id, w.agent_id, w.agent_version, w.case_id, w.case_revision, w.case_name, w.repetition,
    w.status, w.outcome, w.error, w.usage, w.model, w.reused_from, w.attempts, w.fencing, w.created_by,
    w.pending_approvals, w.decisions`,
  words: {
    PENDING: 'queued',
    EXECUTING: 'running',
    NEEDS_REVIEW: 'needs_review',
    COMPLETED: 'completed',
    ERROR: 'error',
    CANCELLED: 'cancelled',
  },
  cancelColumn: 'cancel_requested_at',
  attemptsLeft: sql`w.attempts <= ${sql.lit(mostRestarts)}`,
  onClaim: [sql`started_at = platform_now()`],
  onMove: [],
  onEnd: (result) => [sql`result = ${result}`],
  contextCut: { read: sql`null`, save: () => ({ set: sql`model = w.model` }) },
  onMoved: async (tx, trials) => {
    if (trials.some(({ status }) => status === 'queued')) await notify(tx, trialsChannel);
    const ended = trials.filter(({ status }) => status !== 'queued' && status !== 'running');
    const ids = [...new Set(ended.map(({ experiment_id }) => experiment_id))];
    if (ids.length > 0 && (await isNothingQueued(tx, ids))) await notify(tx, trialEndsChannel);
  },
});

/** Returns whether one of these experiments has no trial left to claim. */
const isNothingQueued = async (executor: Executor, ids: readonly string[]): Promise<boolean> => {
  const { rows } = await sql`select from unnest(${[...ids]}::uuid[]) e(id)
    where not exists (select from trials t where t.experiment_id = e.id and t.status = 'queued') limit 1`.execute(
    executor,
  );
  return rows.length > 0;
};
