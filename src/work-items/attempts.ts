import type { StoredUsage } from '../lib/usage.ts';
import type { RunError } from '../runs/index.ts';
import type { Status } from './states.ts';

/** A transition, as attempts are made of it. */
export interface AttemptEvent {
  seq: number;
  at: Date;
  action: string;
  to: Status;
  /** Worker that claimed the attempt. */
  owner: string | null;
  error: RunError | null;
}

/** Step of the waterfall for an attempt. */
export interface AttemptStep {
  started_at: Date;
  trace_id: string | null;
  usage: StoredUsage | null;
  cost_nano_usd: number;
  /** Calls of models without a known amount. */
  unknown_calls: number;
}

/** Ends of an attempt: a status, or a reason why another attempt follows. */
export const attemptOutcomes = [
  'COMPLETED',
  'NEEDS_REVIEW',
  'INDETERMINATE',
  'ERROR',
  'CANCELLED',
  'RETRY',
  'RELEASED',
  'LOST',
] as const;
type AttemptOutcome = (typeof attemptOutcomes)[number];

export interface Attempt {
  /** Counted from 1 after the creation, a continue and a restart. */
  n: number;
  /** The number of the event that began it. */
  seq: number;
  started_at: Date;
  /** Null while it runs, like the outcome. */
  ended_at: Date | null;
  outcome: AttemptOutcome | null;
  error: RunError | null;
  /** The replica, or the external worker. */
  replica: string | null;
  trace_id: string | null;
  /** Usage of its model calls; null if that is not known. */
  usage: StoredUsage | null;
  cost_nano_usd: number;
  unknown_calls: number;
}

const outcomeOf = ({ action, to }: AttemptEvent): AttemptOutcome | null => {
  if (action === 'lease_lost') return 'LOST';
  if (to === 'PENDING') return action === 'hand_back' ? 'RELEASED' : 'RETRY';
  return to === 'EXECUTING' || to === 'DRAFT' ? null : to;
};

const endings = ['finish', 'retry', 'hand_back', 'lease_lost'];
const lost = { code: 'lease_lost', message: 'The worker was lost.' };

/** The attempts of a Work Item, oldest first, from its history and its waterfall, both oldest first. */
export const attemptsOf = (events: readonly AttemptEvent[], steps: readonly AttemptStep[]): Attempt[] => {
  const attempts: Attempt[] = [];
  let n = 0;
  for (const event of events) {
    const { action, seq, at, owner, error } = event;
    const open = attempts.at(-1);
    if (action === 'continue' || action === 'restart') n = 0;
    if (action === 'claim') {
      n += 1;
      const began = {
        ended_at: null,
        outcome: null,
        error: null,
        trace_id: null,
        usage: null,
        cost_nano_usd: 0,
        unknown_calls: 0,
      };
      attempts.push({ n, seq, started_at: at, replica: owner, ...began });
    } else if (open && open.ended_at === null && endings.includes(action)) {
      open.ended_at = at;
      open.outcome = outcomeOf(event);
      open.error = action === 'lease_lost' ? lost : error;
      // A released attempt does not count.
      if (open.outcome === 'RELEASED') n -= 1;
    }
  }
  for (const step of steps) {
    const attempt = attempts.findLast(({ started_at }) => started_at <= step.started_at);
    if (!attempt) continue;
    const { started_at: _, ...known } = step;
    Object.assign(attempt, known);
  }
  return attempts;
};

/** The number of the attempt in which something with the number `seq` happened, or that followed; null before the first. */
export const attemptAt = (attempts: readonly Attempt[], seq: number): number | null =>
  attempts.findLast((attempt) => attempt.seq < seq)?.n ?? null;
