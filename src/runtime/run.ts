import type { Agent } from '../agents/index.ts';
import { BudgetExceeded, isBudgetRefusal } from '../budgets/index.ts';
import type { Accounts, NewCharge } from '../charges/index.ts';
import type { Egress } from '../lib/egress.ts';
import { ApiError, messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import type { RunUsage } from '../lib/usage.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import type { RunError } from '../runs/index.ts';
import type { CurrentSettings } from '../settings/index.ts';
import type { Tracing } from '../telemetry/index.ts';
import { ToolServerError } from '../tool-servers/index.ts';
import { type Attempt, endOf, settle } from './attempt.ts';
import { outcomeOfBudget } from './budget-outcome.ts';
import type { Candidate } from './fallback.ts';
import { orAborted, RunEnded } from './lease.ts';
import { createModel } from './model/index.ts';
import { type AttemptReads, VersionUnusable } from './reads.ts';
import { submitResultTool } from './result.ts';
import type { AttemptOutcome, Run, RunEnd } from './run-store.ts';
import { costAttributes, failSpan, invokeAgentSpan, usageAttributes } from './spans.ts';
import { ModelError } from './step.ts';
import { runSteps } from './steps.ts';
import type { OpenedTools, Tool } from './tools.ts';

export interface RunDeps {
  reads: AttemptReads;
  egress: Egress;
  accounts: Accounts;
  log: Logger;
  settings: CurrentSettings;
  tracing: Tracing;
  /** Resolves when ended spans are durable. */
  flush: () => Promise<void>;
  /** Called at the start of each attempt. */
  openTools: (agent: Agent, signal: AbortSignal) => Promise<OpenedTools>;
}

/** The end of a run waits for its trace to be durable and its tools to be closed, but no longer than this. */
const endWithinMs = 2_000;

const internalError: RunError = {
  code: 'internal_error',
  message: 'Something went wrong on our side; the logs say what, under the id of the run.',
};

type Ended = AttemptOutcome | { status: 'timeout' } | { status: 'lost' };

/** An error of the model or of a tool server: it has a code of few values, and a message without secrets. */
interface Failure extends RunError {
  retryable: boolean;
  retryAfterMs?: number | null;
}

const failureOf = (error: unknown): Failure | null => {
  if (isBudgetRefusal(error)) return { code: error.code, message: error.message, retryable: false };
  if (error instanceof ModelError || error instanceof ToolServerError || error instanceof VersionUnusable) {
    return error;
  }
  if (error instanceof ApiError && error.code === 'not_found') {
    return { code: error.code, message: error.message, retryable: false };
  }
  return null;
};

const outcomeOfError = (error: unknown, run: Run<unknown>, log: Logger): Ended => {
  const { held, id } = run;
  const ended = held.signal.aborted ? (held.signal.reason as unknown) : error;
  if (ended instanceof RunEnded) return { status: ended.reason };
  if (error instanceof BudgetExceeded) return outcomeOfBudget(error, run);
  const failure = failureOf(error);
  if (!failure) {
    log.error({ run_id: id, error: messageOf(error) }, 'an attempt failed');
    return { status: 'RETRY', error: internalError, waitSeconds: 0 };
  }
  const { code, message, retryable, retryAfterMs } = failure;
  if (!retryable) return { status: 'ERROR', error: { code, message } };
  return { status: 'RETRY', error: { code, message }, waitSeconds: Math.ceil((retryAfterMs ?? 0) / 1_000) };
};

/** Returns what makes the models of an attempt. `id` null: the default. */
const candidateMaker =
  (
    { egress, accounts }: RunDeps,
    readLlm: AttemptReads['llm'],
    { purpose }: Pick<Run<unknown>, 'purpose'>,
    keep: (charge: NewCharge) => void,
  ) =>
  async (id: string | null, name: string | null): Promise<Candidate> => {
    const llm = await readLlm(id);
    const account = accounts.open(llm, name ?? llm.model, {
      purpose,
      observe: keep,
      isKept: purpose === 'run',
    });
    const model = createModel(llm, { fetch: egress.fetch, name, account });
    return { llmId: llm.id, model, contextTokens: llm.context_tokens };
  };

/** The model of the agent, then those that take over from it. */
const candidatesOf = async (
  candidateOf: ReturnType<typeof candidateMaker>,
  agent: Agent,
): Promise<Candidate[]> => {
  const ids = new Set([agent.llm_id, ...agent.fallback_llm_ids]);
  const candidates: Candidate[] = [];
  for (const id of ids) candidates.push(await candidateOf(id, id === agent.llm_id ? agent.model : null));
  return candidates;
};

const byName = (a: Tool, b: Tool): number => (a.name < b.name ? -1 : 1);

const difference = (after: RunUsage, before: RunUsage) => ({
  input_tokens: after.input_tokens - before.input_tokens,
  output_tokens: after.output_tokens - before.output_tokens,
  cached_input_tokens: after.cached_input_tokens - before.cached_input_tokens,
  reasoning_tokens: after.reasoning_tokens - before.reasoning_tokens,
});

interface AttemptEnd {
  outcome: Ended;
  end: RunEnd;
  /** Closes what the tools needed. */
  close: () => Promise<void>;
}

interface ObservedCharges {
  /** Of the model call in progress. */
  charges: NewCharge[];
  keep(charge: NewCharge): void;
  /** All of the attempt. */
  made: readonly NewCharge[];
}

/** The attempt itself, inside its span. */
const attemptRun = async <Status>(
  deps: RunDeps,
  run: Run<Status>,
  { charges, keep, made }: ObservedCharges,
): Promise<AttemptEnd> => {
  const { log } = deps;
  const { replaced = {} } = run;
  const tracing = replaced.tracing ?? deps.tracing;
  const usage: RunUsage = { ...run.usage };
  let end: RunEnd = { usage, model: run.model, steps: [], traceId: null };
  let close = async (): Promise<void> => {};
  try {
    const { agent, llm } = await deps.reads.agent(run.agentId, run.agentVersion);
    const candidateOf = candidateMaker(deps, llm, run, keep);
    const candidates = replaced.candidates?.(agent) ?? (await candidatesOf(candidateOf, agent));
    const { timeout_seconds: seconds } = agent.settings;
    const timer = setTimeout(() => run.held.end('timeout'), seconds * 1_000);
    const { name, options } = invokeAgentSpan(run, agent, candidates[0]!.model);
    try {
      return await tracing.withSpan(name, options, async (span) => {
        end = { ...end, traceId: tracing.traceId() };
        let outcome: Ended;
        try {
          const opening = (replaced.openTools ?? deps.openTools)(agent, run.held.signal);
          close = () =>
            opening.then(
              (opened) => opened[Symbol.asyncDispose](),
              () => {},
            );
          const opened = await orAborted(opening, run.held.signal);
          const submit = agent.result_schema ? submitResultTool(agent.result_schema) : null;
          if (agent.isFirstRun && run.agentVersion !== null && !replaced.candidates) {
            await deps.reads.firstRun(agent.id, run.agentVersion, {
              llms: candidates.map(({ llmId, model }) => ({ llm_id: llmId, model: model.name })),
              tools: opened.tools.map(({ name, definitionHash }) => ({
                tool_name: name,
                definition_hash: definitionHash ?? null,
              })),
            });
          }
          const { messages, context, ...start } = await run.store.open(tracing.traceId(), agent.instructions);
          const attempt: Attempt = {
            run,
            start,
            candidates,
            substitute: replaced.candidates
              ? null
              : async ({ llmId }) => {
                  const { purpose, held } = run;
                  const id = await deps.accounts.substitute({ id: llmId }, { purpose }, held.signal);
                  return id === null ? null : candidateMaker(deps, deps.reads.llm, run, keep)(id, null);
                },
            tools: [...opened.tools, ...(submit ? [submit] : [])].sort(byName),
            withheld: opened.withheld ?? [],
            resultCheck: submit && ((args) => submit.check(args)),
            limits: agent.settings,
            captureContent: deps.settings.get().CAPTURE_MESSAGE_CONTENT,
            tracing,
            log,
            messages,
            usage,
            model: run.model,
            context,
            charges,
            inputs: new Map(),
            steps: [],
          };
          try {
            outcome = await runSteps(attempt);
          } finally {
            end = endOf(attempt);
          }
        } catch (error) {
          outcome = outcomeOfError(error, run, log);
        }
        if (outcome.status === 'timeout') {
          const message = `The agent was not done after ${seconds} seconds (settings.timeout_seconds).`;
          outcome = { status: 'ERROR', error: { code: 'timeout', message } };
        }
        span.setAttributes({ ...usageAttributes(difference(usage, run.usage)), ...costAttributes(made) });
        if ('error' in outcome) failSpan(span, outcome.error.code, outcome.error.message);
        else if (outcome.status !== 'COMPLETED' && outcome.status !== 'NEEDS_REVIEW') {
          failSpan(span, outcome.status);
        }
        return { outcome, end, close };
      });
    } finally {
      clearTimeout(timer);
    }
  } catch (error) {
    return { outcome: outcomeOfError(error, run, log), end, close };
  }
};

/**
 * Runs one attempt. It is one trace of its own, which is durable before the run is reported as
 * ended. Resolves to the status that it left; null if the lease was lost, and another worker continues. Rejects if the
 * end could not be stored: the lease then expires, with the same effect.
 */
export const runAttempt = async <Status>(deps: RunDeps, run: Run<Status>): Promise<Status | null> => {
  const charges: NewCharge[] = [];
  const made: NewCharge[] = [];
  const writesThem = run.purpose === 'run';
  let isOver = false;
  const keep = (charge: NewCharge): void => {
    made.push(charge);
    if (isOver && writesThem) void deps.accounts.writeLate([charge]);
    else charges.push(charge);
  };
  /** The charges that no transaction has stored. */
  let unstored: readonly NewCharge[] = [];
  try {
    const { outcome, end, close } = await attemptRun(deps, run, { charges, keep, made });
    unstored = end.steps.flatMap((step) => step.charges);
    const closed = withTimeout(close(), endWithinMs).catch((error: unknown) => {
      deps.log.warn({ run_id: run.id, error: messageOf(error) }, 'the tools of a run were not closed');
    });
    if (outcome.status === 'lost' || outcome.status === 'timeout') return null;
    const durable = withTimeout(deps.flush(), endWithinMs).catch((error: unknown) => {
      deps.log.warn({ run_id: run.id, error: messageOf(error) }, 'the trace is not durable yet');
    });
    await closed;
    const status = await run.store.finish(outcome, end, durable);
    if (status !== null) {
      settle(end.steps);
      unstored = [];
    }
    return status;
  } finally {
    isOver = true;
    run.held.release();
    if (writesThem) await deps.accounts.writeLate([...unstored, ...charges]);
  }
};
