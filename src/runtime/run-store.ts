import type { Attributes } from '@opentelemetry/api';
import type { PinnedAgent } from '../agents/index.ts';
import type { NewCharge } from '../charges/index.ts';
import type { OwnerIds } from '../files/index.ts';
import type { ActingRun } from '../lib/acting-for.ts';
import type { RunUsage, Usage } from '../lib/usage.ts';
import type { AttemptStart, BudgetWait, NewApproval, RunError } from '../runs/index.ts';
import type { Tracing } from '../telemetry/index.ts';
import type { InputState } from '../tool-inputs/index.ts';
import type { ContextCut } from './context.ts';
import type { Candidate } from './fallback.ts';
import type { HeldLease } from './lease.ts';
import type { Message, ToolCall } from './messages.ts';
import type { OpenedTools } from './tools.ts';

/**
 * Store that the loop (steps.ts) needs, for a Work Item or a run of a conversation. The loop knows no table of either.
 */

/** A call that must not be repeated, as the person is asked about it if its outcome is never known. */
export type UnsafeCall = NewApproval & { kind: 'unknown_outcome' };

/** State that earlier attempts and people left, with the stored conversation, the first messages included. */
export interface RunStart extends Pick<AttemptStart, 'approved' | 'interrupted' | 'tokensBefore'> {
  messages: Message[];
  context: ContextCut;
}

/** One row of the waterfall: what happened and how long it took, without content. */
export interface StepRecord {
  kind: 'model' | 'tool';
  name: string;
  status: 'ok' | 'error';
  /** Time by performance.now(). */
  beganAt: number;
  endedAt: number;
  /** A code of few values. */
  error: string | null;
  model: string | null;
  tokens: Usage | null;
  /** The span of a model call. */
  spanId: string | null;
  /** Of a model call: they are written with the step. */
  charges: readonly NewCharge[];
  /** The position in `messages` of what it stored; null: nothing. */
  message: number | null;
  /** Remarks for people; null if there are none. */
  notes: readonly string[] | null;
}

/** Values that one transaction stores. Absent fields do not change. */
export interface RunProgress {
  messages: readonly Message[];
  usage: RunUsage;
  /** The model that replied last. */
  model: string | null;
  context: ContextCut;
  /** All calls in flight that must not be repeated. */
  unsafeCalls?: readonly UnsafeCall[];
  /** The calls that ask people for input from now on, by their ids. */
  inputs?: ReadonlyMap<string, InputState>;
  /** The ids of calls that had asked, and have ended. */
  endedInputs?: readonly string[];
  /** The calls that are made from now on, with the arguments that they are made with. */
  begun?: readonly Pick<ToolCall, 'id' | 'name' | 'arguments'>[];
  /** A new reply: what people decided about the calls of the one before is done with. */
  newReply: boolean;
  steps: readonly StepRecord[];
}

/**
 * Outcome of the steps of an attempt. `messages` are not stored yet: they go into the transaction that ends the
 * attempt.
 */
export type RunOutcome = { messages?: readonly Message[] } & (
  | { status: 'COMPLETED'; result: unknown }
  | { status: 'NEEDS_REVIEW'; reason: string; approvals: readonly NewApproval[] }
  | { status: 'INDETERMINATE'; error: RunError; approvals: readonly NewApproval[] }
  | { status: 'ERROR'; error: RunError }
);

/** Outcome of an attempt: `cancelled` by a request, `stopped` with its worker. */
export type AttemptOutcome =
  | RunOutcome
  | { status: 'RETRY'; error: RunError; waitSeconds: number }
  /** A budget has no room until its period ends. */
  | { status: 'WAIT'; wait: BudgetWait; until: Date }
  | { status: 'cancelled' }
  | { status: 'stopped' };

/** Values that the transaction that ends an attempt stores besides the outcome. */
export type RunEnd = Pick<RunProgress, 'usage' | 'model' | 'steps'> & {
  /** Trace of the attempt, also if it failed before it was opened; null if it had none. */
  traceId: string | null;
};

/**
 * The tables of one kind of run. It writes the charges of the steps that it is given, except for trials, whose charges are
 * written as they come. Every method writes in one transaction, perhaps shared with other runs, in which only the
 * holder of the lease can write: its first statement locks the row under the fencing token.
 */
export interface RunStore<Status> {
  /** Stores the trace of this attempt and, if it is the first, `first` (the instructions come before it). */
  open(traceId: string | null, instructions: string): Promise<RunStart>;
  /** Stores a step before anything relies on it. Throws RunEnded if the lease is lost or a cancel was requested. */
  save(progress: RunProgress): Promise<void>;
  /** Returns the calls that ask people for input, or have got it, by their ids; absent: tools cannot ask. */
  inputs?(): Promise<ReadonlyMap<string, InputState>>;
  /**
   * Ends the attempt. Returns the status that this left; null if the lease was lost, and nothing changed. The end is
   * committed after `durable` has resolved: the trace is durable, or cannot be waited for any longer. It never rejects.
   */
  finish(outcome: AttemptOutcome, end: RunEnd, durable: Promise<void>): Promise<Status | null>;
}

/** One attempt at something that an agent does. */
export interface Run<Status> {
  /** For logs. */
  id: string;
  agentId: string;
  /** The version of the agent that its claim pinned; null if the agent was deleted since. */
  agentVersion: number | null;
  conversationId: string;
  /** What its calls of models are charged to. */
  acting: ActingRun;
  purpose: 'run' | 'trial';
  /** The id of the principal who asked for it. */
  createdBy: string;
  /** Whose files and data frames its tools see. */
  owner: OwnerIds;
  /** Whose files they see, if not those of `owner`. */
  filesOf?: OwnerIds;
  /** Number of agents that called each other before this one; 0: none. */
  depth: number;
  /** Attributes of the span of the attempt. */
  attributes: Attributes;
  /** Usage so far. */
  usage: RunUsage;
  model: string | null;
  held: HeldLease;
  store: RunStore<Status>;
  /** Surroundings in place of the agent's own: those of a run that touches nothing outside. */
  replaced?: {
    /** Opens the tools. */
    openTools?(agent: PinnedAgent, signal: AbortSignal): Promise<OpenedTools>;
    /** The models to ask, in turn. */
    candidates?(agent: PinnedAgent): Candidate[];
    tracing?: Tracing;
  };
  /**
   * Called before each model call; returns what receives the text of the reply as it comes. A reply is stored only by
   * `save` or `finish`: what was received for a call before without that is void.
   */
  beginReply?: () => (text: string) => void;
}
