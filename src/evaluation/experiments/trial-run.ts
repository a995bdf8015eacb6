import { setTimeout as sleep } from 'node:timers/promises';
import type { PinnedAgent } from '../../agents/index.ts';
import { backOff } from '../../lib/back-off.ts';
import { noRunUsage, type RunUsage } from '../../lib/usage.ts';
import type { NewApproval, RunError } from '../../runs/index.ts';
import {
  type AttemptOutcome,
  type Message,
  type OpenedTools,
  type Run,
  RunEnded,
  type RunStart,
  runtimeCalls,
} from '../../runtime/index.ts';
import type { CaseContent } from '../cases/content.ts';
import { type Approvals, answerFor } from './people.ts';
import { recordedModel } from './recorded-model.ts';
import { type Continued, createMatcher, type Divergence, type Entry, readTape } from './tape.ts';
import { notOnTheRecording, replayTools, type ToolMode } from './trial-tools.ts';

/** One trial: the ordinary loop with a store in memory, recorded tools, and people who say what they said before. */

/** The parts of a case that a trial needs. */
export type TrialInput = Pick<CaseContent, 'input' | 'tape' | 'replies' | 'made'>;

export interface TrialModes {
  tools: ToolMode;
  order: 'any_order' | 'strict';
  on_divergence: 'end' | 'error';
  model: 'live' | 'recorded';
  approvals: Approvals;
}

type Verdict = 'completed' | 'failed' | 'diverged' | 'error';

export interface TrialEnd {
  verdict: Verdict;
  result: unknown;
  error: RunError | null;
  /** Without the messages before its input. */
  messages: Message[];
  divergences: Divergence[];
  unusedCalls: number;
  usage: RunUsage;
  model: string | null;
  /** Of the run, without its grading. */
  durationMs: number;
}

export interface TrialParts {
  openTools(agent: PinnedAgent, signal: AbortSignal): Promise<OpenedTools>;
  /** Runs one attempt of the ordinary loop. */
  attempt(run: Run<'ended'>): Promise<'ended' | null>;
  restoreFrame(entry: Entry): Promise<void>;
  maxAttempts: number;
}

const mostDivergences = 50;

/** The codes of errors that the agent itself is to blame for. */
const faultsOfAgent: readonly string[] = [
  'max_steps',
  'timeout',
  'max_tokens',
  'result_invalid',
  'context_too_long',
  'model_refused',
];

const verdictOf = ({ code }: RunError): Verdict =>
  faultsOfAgent.includes(code) || code.startsWith('model_answer_') ? 'failed' : 'error';

/** The waits between attempts are those of every run: 2, 4, 8 … at most 300 s, in milliseconds. */
const [firstWait, longestWait] = [2_000, 300_000];

/** A trial that asks people more often than was recorded gives up after so many times. */
const mostAnswers = 20;

const isDone = (messages: readonly Message[]): boolean => {
  const last = messages.at(-1);
  return last?.role === 'assistant' && last.tool_calls.length === 0;
};

/**
 * Runs a trial to its end. `outer` is its claim: its lease is held for all attempts. Throws RunEnded if that ends
 * (cancelled, lost or stopped).
 */
export const runTrial = async (
  outer: Pick<
    Run<unknown>,
    'id' | 'agentId' | 'agentVersion' | 'createdBy' | 'purpose' | 'acting' | 'owner' | 'attributes' | 'held'
  >,
  input: TrialInput,
  modes: TrialModes,
  parts: TrialParts,
  tracing: NonNullable<Run<unknown>['replaced']>['tracing'],
): Promise<TrialEnd> => {
  const tape = readTape(input);
  const matcher = createMatcher(tape.entries, modes.order);
  const divergences: Divergence[] = [];
  const messages: Message[] = [];
  let usage: RunUsage = { ...noRunUsage };
  let model: string | null = null;
  let context: RunStart['context'] = runtimeCalls.cutOf(null);
  let start: Pick<RunStart, 'approved' | 'interrupted' | 'tokensBefore'> = {
    approved: [],
    interrupted: [],
    tokensBefore: 0,
  };
  let hasDiverged = false;
  let abort: AbortController | null = null;
  let outcome: AttemptOutcome | null = null;
  let durationMs = 0;
  let answers = 0;

  const isReply = ({ role }: { role: string }): boolean => role === 'assistant';
  const { message, payload, history } = input.input;
  const repliesBefore = history.filter(isReply).length;
  const step = (): number => Math.max(0, messages.filter(isReply).length - repliesBefore);
  const note = (divergence: Omit<Divergence, 'step'>): void => {
    if (divergences.length < mostDivergences) divergences.push({ step: step(), ...divergence });
  };
  /** Ends the attempt in the middle, as the stop of a worker does. */
  const endDiverged = (): never => {
    hasDiverged = true;
    const ended = new RunEnded('stopped');
    abort?.abort(ended);
    throw ended;
  };
  const diverge = (divergence: Omit<Divergence, 'step'>): void => {
    note(divergence);
    if (modes.on_divergence === 'end') endDiverged();
  };

  const candidates = [
    recordedModel(tape, () => {
      note({ kind: 'no_reply', tool_name: null, arguments: null, nearest: null });
      return endDiverged();
    }),
  ];

  /** Takes the next time that a person continued the source, if it had stopped for this reason. */
  const nextContinued = (stopped: Continued['stopped']): Continued | null =>
    tape.continued[0]?.stopped === stopped ? tape.continued.shift()! : null;
  const hasUnknownOutcome = ({ toolCallId }: Entry): boolean => {
    const [next] = tape.continued;
    return (
      next?.stopped === 'indeterminate' &&
      next.decisions.some(({ tool_call_id }) => tool_call_id === toolCallId)
    );
  };

  const newAttempt = (): Run<'ended'> => {
    const controller = new AbortController();
    abort = controller;
    const { held } = outer;
    const follow = () => controller.abort(held.signal.reason);
    if (held.signal.aborted) follow();
    held.signal.addEventListener('abort', follow, { once: true });
    return {
      id: outer.id,
      agentId: outer.agentId,
      agentVersion: outer.agentVersion,
      conversationId: outer.id,
      createdBy: outer.createdBy,
      purpose: outer.purpose,
      acting: outer.acting,
      owner: outer.owner,
      depth: 0,
      attributes: outer.attributes,
      usage,
      model,
      held: {
        signal: controller.signal,
        end: (reason) => controller.abort(new RunEnded(reason)),
        store: held.store,
        // The lease outlives the attempt.
        release: () => held.signal.removeEventListener('abort', follow),
      },
      replaced: {
        openTools: async (agent, signal) =>
          replayTools(await parts.openTools(agent, signal), {
            matcher,
            mode: modes.tools,
            hasUnknownOutcome,
            diverge,
            restoreFrame: parts.restoreFrame,
          }),
        ...(modes.model === 'recorded' ? { candidates: () => candidates } : {}),
        ...(tracing ? { tracing } : {}),
      },
      store: {
        open: async (_traceId, instructions) => {
          if (messages.length === 0) {
            if (instructions !== '') messages.push({ role: 'system', text: instructions });
            messages.push(
              ...history.map(runtimeCalls.fromStored),
              runtimeCalls.firstUserMessage(message, payload),
            );
          } else if (isDone(messages)) messages.push({ role: 'user', text: 'Continue.' });
          return { ...start, context, messages: [...messages] };
        },
        save: async (progress) => {
          messages.push(...progress.messages);
          usage = progress.usage;
          model = progress.model;
          context = progress.context;
          if (progress.newReply) start = { ...start, approved: [], interrupted: [] };
        },
        finish: async (ended, end, durable) => {
          await durable;
          if ('messages' in ended && ended.messages) messages.push(...ended.messages);
          usage = end.usage;
          model = end.model;
          outcome = ended;
          return 'ended';
        },
      },
    };
  };

  const goOn = (approved: RunStart['approved'], more: readonly Message[]): void => {
    messages.push(...more);
    start = { approved, interrupted: [], tokensBefore: usage.input_tokens + usage.output_tokens };
  };

  /** Answers what the trial asks of people. Returns whether it goes on. */
  const answer = (approvals: readonly NewApproval[], recorded: Continued | null): boolean => {
    const people = { matcher, mode: modes.approvals };
    const { approved, messages: more, undecided } = answerFor(approvals, recorded, people);
    for (const { tool_name, tool_call_id, arguments: args } of undecided) {
      const call = { toolName: tool_name!, arguments: args };
      note({ kind: 'not_recorded', tool_name, arguments: args, nearest: matcher.nearest(call) });
      const result = {
        tool_call_id: tool_call_id!,
        tool_name: tool_name!,
        text: notOnTheRecording,
        is_error: true,
      };
      more.unshift({ role: 'tool', ...result });
    }
    if (undecided.length > 0 && modes.on_divergence === 'end') {
      hasDiverged = true;
      return false;
    }
    goOn(approved, more);
    return true;
  };

  const end = (verdict: Verdict, more: Partial<Pick<TrialEnd, 'result' | 'error'>> = {}): TrialEnd => {
    let last = verdict;
    const unused = matcher.unused();
    if (verdict === 'completed' && modes.order === 'strict' && unused.length > 0) {
      for (const { toolName, arguments: args } of unused) {
        note({ kind: 'not_called', tool_name: toolName, arguments: args, nearest: null });
      }
      if (modes.on_divergence === 'end') last = 'diverged';
    }
    const shown = { verdict: last, result: null, error: null, ...more };
    const first = messages[0]?.role === 'system' ? 1 : 0;
    const own = [...messages.slice(0, first), ...messages.slice(first + history.length)];
    return { ...shown, messages: own, divergences, unusedCalls: unused.length, usage, model, durationMs };
  };

  if (modes.model === 'recorded' && tape.replies.length === 0) {
    const message = 'Nothing is recorded in this case, so that its model cannot be replayed.';
    return end('error', { error: { code: 'no_tape', message } });
  }
  for (let attempts = 1; ; attempts++) {
    const from = performance.now();
    outcome = null;
    await parts.attempt(newAttempt());
    durationMs += Math.round(performance.now() - from);
    outer.held.signal.throwIfAborted();
    if (hasDiverged) return end('diverged');
    const ended = outcome as AttemptOutcome | null;
    switch (ended?.status) {
      case 'COMPLETED':
        return end('completed', { result: ended.result });
      case 'NEEDS_REVIEW': {
        const recorded = nextContinued('needs_review');
        if (!recorded && ++answers > mostAnswers) {
          const text = `The agent asked people more than ${mostAnswers} times.`;
          return end('failed', { error: { code: 'max_steps', message: text } });
        }
        if (!answer(ended.approvals, recorded)) return end('diverged');
        attempts = 0;
        break;
      }
      case 'RETRY':
        if (attempts >= parts.maxAttempts) return end(verdictOf(ended.error), { error: ended.error });
        await sleep(
          Math.max(ended.waitSeconds * 1_000, backOff(attempts, firstWait, longestWait)),
          undefined,
          {
            signal: outer.held.signal,
          },
        ).catch(() => {});
        outer.held.signal.throwIfAborted();
        break;
      case 'INDETERMINATE': {
        const recorded = nextContinued('indeterminate');
        if (!recorded) return end('error', { error: ended.error });
        if (!answer(ended.approvals, recorded)) return end('diverged');
        attempts = 0;
        break;
      }
      case 'ERROR': {
        const recorded = nextContinued('error');
        if (!recorded) return end(verdictOf(ended.error), { error: ended.error });
        goOn([], recorded.message === null ? [] : [{ role: 'user', text: recorded.message }]);
        attempts = 0;
        break;
      }
      default:
        throw new Error(`a trial ended as ${ended?.status ?? 'nothing'}`);
    }
  }
};
