import type { NewCharge } from '../charges/index.ts';
import type { SchemaCheck } from '../lib/json-schema.ts';
import type { Logger } from '../lib/log.ts';
import type { RunUsage } from '../lib/usage.ts';
import type { Tracing } from '../telemetry/index.ts';
import type { InputState } from '../tool-inputs/index.ts';
import type { TokenLimits } from './budget.ts';
import type { ContextCut } from './context.ts';
import type { Candidate } from './fallback.ts';
import type { Message } from './messages.ts';
import type { Run, RunEnd, RunProgress, RunStart, StepRecord } from './run-store.ts';
import type { Tool, WithheldTool } from './tools.ts';

interface RunLimits extends TokenLimits {
  /** Model calls of one attempt. */
  max_steps: number;
  /** Tool calls of one step that run side by side. */
  tool_concurrency: number;
}

/** One attempt: what it works with. The loop changes what is not readonly. */
export interface Attempt {
  readonly run: Omit<Run<unknown>, 'usage' | 'model'>;
  readonly start: Omit<RunStart, 'messages' | 'context'>;
  /** The model of the agent, then those that take over from it. */
  readonly candidates: readonly Candidate[];
  /**
   * Resolves to the model that a call goes to in the place of the agent's, because a budget is nearly used up; null: none.
   * Absent for models that cost nothing.
   */
  readonly substitute: ((first: Candidate) => Promise<Candidate | null>) | null;
  /** Sorted by name. */
  readonly tools: readonly Tool[];
  readonly withheld: readonly WithheldTool[];
  /** The check of `submit_result`; null if the agent's reply is the result. */
  readonly resultCheck: SchemaCheck | null;
  readonly limits: RunLimits;
  /** True if prompts and replies go into the spans. */
  readonly captureContent: boolean;
  readonly tracing: Tracing;
  readonly log: Logger;
  /** The conversation as it is stored; each stored message is added. */
  readonly messages: Message[];
  /** Usage of all attempts so far. */
  readonly usage: RunUsage;
  model: string | null;
  context: ContextCut;
  /** Charges of the model call in progress. */
  readonly charges: NewCharge[];
  /** The calls that ask people for input, or have got it, by their ids. */
  inputs: ReadonlyMap<string, InputState>;
  /** Steps since the last transaction. */
  steps: StepRecord[];
}

/** `steps`, of which the last model call that succeeded stored the first message. */
const withReply = (steps: readonly StepRecord[]): StepRecord[] => {
  const reply = steps.findLast(({ kind, status }) => kind === 'model' && status === 'ok');
  return steps.map((step) => (step === reply ? { ...step, message: 0 } : step));
};

/** The charges of steps that a transaction has stored are written. */
export const settle = (steps: readonly StepRecord[]): void => {
  for (const { charges } of steps) for (const { settled } of charges) settled();
};

/** Returns the values that the end of the attempt stores besides its outcome. */
export const endOf = ({ usage, model, steps, tracing }: Attempt): RunEnd => ({
  usage,
  model,
  steps: withReply(steps),
  traceId: tracing.traceId(),
});

/** Stores what happened, in one transaction, before anything relies on it. */
export const save = async (
  attempt: Attempt,
  change: Pick<RunProgress, 'messages'> &
    Partial<Pick<RunProgress, 'unsafeCalls' | 'begun' | 'newReply' | 'steps' | 'inputs' | 'endedInputs'>>,
): Promise<void> => {
  const { run, tracing, usage, model, context } = attempt;
  const { newReply = false } = change;
  const ended = newReply ? withReply(attempt.steps) : attempt.steps;
  const steps = [...ended, ...(change.steps ?? [])];
  attempt.steps = [];
  try {
    await tracing.withSpan('store step', { application: true }, () =>
      run.store.save({ ...change, newReply, usage: { ...usage }, model, context, steps }),
    );
  } catch (error) {
    // The end of the attempt stores them, without the messages, or their charges are written late.
    attempt.steps = [...steps.map((step) => ({ ...step, message: null })), ...attempt.steps];
    throw error;
  }
  settle(steps);
  attempt.messages.push(...change.messages);
};
