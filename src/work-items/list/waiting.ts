import { z } from 'zod';
import { timestamp } from '../../http/index.ts';
import { LocalClock } from '../../lib/times.ts';
import type { WorkItem } from '../store.ts';

/** Reason why a Work Item is not executing. */
const reasons = [
  'draft',
  'start',
  'retry',
  'budget',
  'slots',
  'queue',
  'external_worker',
  'no_worker',
  'lost_worker',
  'person',
] as const;

/** Positions in a queue are counted up to here. */
export const mostAhead = 1_000;

export const waitingSchema = z
  .object({
    reason: z
      .enum(reasons)
      .describe(
        '`draft`: it was not submitted. `start`: until its `start_at`. `retry`: until its next attempt. `budget`: until the next period of a budget. `slots`: the agent executes as many as it may. `queue`: until a worker is free. `external_worker`: until one claims it. `no_worker`: none is alive. `lost_worker`: its worker was lost, and none is alive to take it over. `person`: a person has to decide.',
      ),
    since: timestamp.describe('When it began to wait.'),
    until: timestamp
      .nullable()
      .describe('When the wait ends by itself (`start`, `retry`, `budget`); null otherwise.'),
    ahead: z
      .int()
      .nullable()
      .describe(
        `Work Items of the agent that are claimed before it, counted up to ${mostAhead.toLocaleString('en')}; null where there is no queue.`,
      ),
    slots: z
      .object({ used: z.int(), of: z.int() })
      .nullable()
      .describe('How many Work Items the agent executes, and may execute; null where it does not matter.'),
    question: z
      .string()
      .nullable()
      .describe('What a person is asked, at most 200 characters; null otherwise.'),
    text: z.string().describe('All of it as a sentence.'),
  })
  .meta({ id: 'Waiting' });

export type Waiting = z.input<typeof waitingSchema>;

/** Fields of a Work Item that decide why it waits. */
export interface WaitingRow extends Pick<WorkItem, 'status' | 'updated_at' | 'review_reason'> {
  /** Its `start_at`, while it waits for that time. */
  starts_at: Date | null;
  /** Time of a retry that is not due yet. */
  retry_at: Date | null;
  /** Name of the budget for which it waits until that time; null: it waits for a retry. */
  budget: string | null;
  /** Time at which the lease of its worker expired, if it did. */
  lost_at: Date | null;
  /** First pending approval, and the number of further ones. */
  approval: { kind: string; tool_name: string | null; reason: string | null; more: number } | null;
}

/** The queue that a Work Item waits in. */
export interface QueueFacts {
  external: boolean;
  used: number;
  of: number;
  ahead: number;
  /** A worker of the platform is alive. */
  workerAlive: boolean;
}

const aheadText = (ahead: number): string => {
  if (ahead === 0) return 'none before it';
  return ahead >= mostAhead ? `${mostAhead.toLocaleString('en')} or more before it` : `${ahead} before it`;
};

const questionOf = ({ review_reason, approval }: WaitingRow): string | null => {
  const asked = review_reason ?? approval?.reason;
  if (asked) return asked;
  if (!approval?.tool_name) return null;
  const others = approval.more > 0 ? `, and ${approval.more} more` : '';
  if (approval.kind === 'input') return `${approval.tool_name} asks for input${others}.`;
  return approval.kind === 'unknown_outcome'
    ? `Did the call of ${approval.tool_name} take effect${others}?`
    : `May ${approval.tool_name} be called${others}?`;
};

const none = { until: null, ahead: null, slots: null, question: null };

const inQueue = (since: Date, { external, used, of, ahead, workerAlive }: QueueFacts): Waiting => {
  const facts = { ...none, since, ahead, slots: { used, of } };
  const before = aheadText(ahead);
  if (used >= of) {
    return {
      ...facts,
      reason: 'slots',
      text: `Waits: ${used} of ${of} slots of the agent in use, ${before}.`,
    };
  }
  if (external)
    return { ...facts, reason: 'external_worker', text: `Waits for an external worker, ${before}.` };
  if (!workerAlive) return { ...facts, reason: 'no_worker', text: `Waits: no worker is alive, ${before}.` };
  return { ...facts, reason: 'queue', text: `Waits for a free worker, ${before}.` };
};

/** Returns the reason why a Work Item waits; null if it does not. `queue` is there if it is PENDING and no retry. */
export const waitingOf = (row: WaitingRow, queue: QueueFacts | null): Waiting | null => {
  const { status, updated_at: since, starts_at, retry_at, budget, lost_at } = row;
  switch (status) {
    case 'DRAFT':
      return { ...none, reason: 'draft', since, text: 'It is a draft: it waits to be submitted.' };
    case 'PENDING': {
      if (starts_at) {
        const text = `Waits for its start at ${starts_at.toISOString()}.`;
        return { ...none, reason: 'start', since, until: starts_at, text };
      }
      if (!retry_at) return queue && inQueue(since, queue);
      if (budget !== null) {
        const at = new LocalClock('UTC', since.getTime()).moment(retry_at.getTime());
        const text = `Waits until ${at} (UTC) for the next period of the budget “${budget}”.`;
        return { ...none, reason: 'budget', since, until: retry_at, text };
      }
      const text = `Waits for a retry until ${retry_at.toISOString()}.`;
      return { ...none, reason: 'retry', since, until: retry_at, text };
    }
    case 'EXECUTING': {
      if (!lost_at || queue?.workerAlive !== false) return null;
      const text = `Its worker was lost at ${lost_at.toISOString()}, and no worker is alive to take it over.`;
      return { ...none, reason: 'lost_worker', since: lost_at, text };
    }
    case 'NEEDS_REVIEW':
    case 'INDETERMINATE': {
      const question = questionOf(row);
      const asked = question ? `: ${question}` : '.';
      const text = `Waits for a person since ${since.toISOString()}${asked}`;
      return { ...none, reason: 'person', since, question, text };
    }
    default:
      return null;
  }
};
