import { type Agent, getAgent } from '../agents/index.ts';
import type { Database, Tx } from '../database/index.ts';
import type { Egress } from '../lib/egress.ts';
import { ApiError, messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import type { LlmConfigurations } from '../llm-configurations/index.ts';
import type { CurrentSettings } from '../settings/index.ts';
import type { Tracing } from '../telemetry/index.ts';
import {
  finish,
  heartbeat,
  listConversation,
  release,
  retry,
  setTrace,
  type WorkItem,
  type WorkItemError,
} from '../work-items/index.ts';
import { type EndReason, type HeldLease, RunEnded } from './lease.ts';
import { firstUserMessage, fromStored, type Message } from './messages.ts';
import { createModel } from './model.ts';
import { failSpan, invokeAgentSpan, usageAttributes } from './spans.ts';
import { type Model, ModelError, type Usage } from './step.ts';
import { appendMessages, type RunOutcome, runSteps } from './steps.ts';
import type { Tool } from './tools.ts';

export interface RunDeps {
  db: Database;
  llms: Pick<LlmConfigurations, 'resolve'>;
  egress: Egress;
  log: Logger;
  settings: CurrentSettings;
  tracing: Tracing;
  /** Resolves when ended spans are durable. */
  flush: () => Promise<void>;
  /** The tools of an agent; called at the start of each attempt. */
  toolsOf: (agent: Agent) => Promise<readonly Tool[]>;
}

/** How an attempt ended. */
type AttemptOutcome =
  | RunOutcome
  | { status: 'RETRY'; error: WorkItemError; waitSeconds: number }
  | { status: EndReason };

/** The end of a Work Item waits for its trace to be durable, but no longer than this. */
const flushWithinMs = 2_000;

const internalError: WorkItemError = {
  code: 'internal_error',
  message: 'Something went wrong on our side; the logs say what, under the id of the Work Item.',
};

const outcomeOfError = (error: unknown, held: HeldLease, log: Logger): AttemptOutcome => {
  const ended = held.signal.aborted ? (held.signal.reason as unknown) : error;
  if (ended instanceof RunEnded) return { status: ended.reason };
  if (error instanceof ModelError) {
    const shown = { code: error.code, message: error.message };
    if (!error.retryable) return { status: 'ERROR', error: shown };
    return { status: 'RETRY', error: shown, waitSeconds: Math.ceil((error.retryAfterMs ?? 0) / 1_000) };
  }
  if (error instanceof ApiError && error.code === 'not_found') {
    return { status: 'ERROR', error: { code: error.code, message: error.message } };
  }
  log.error({ work_item_id: held.lease.id, error: messageOf(error) }, 'an attempt at a Work Item failed');
  return { status: 'RETRY', error: internalError, waitSeconds: 0 };
};

/** Stores the trace of this attempt and, if it is the first, the first messages. Returns the conversation so far. */
const openConversation = async (
  tx: Tx,
  item: WorkItem,
  agent: Agent,
  lease: HeldLease['lease'],
  traceId: string | null,
): Promise<Message[]> => {
  if (traceId !== null) await setTrace(tx, { ...lease, traceId });
  const messages = (await listConversation(tx, item.id, item.conversation_id)).map(fromStored);
  const added: Message[] = [];
  const last = messages.at(-1);
  if (!last) {
    if (agent.instructions !== '') added.push({ role: 'system', text: agent.instructions });
    added.push(firstUserMessage(item.message, item.payload));
  } else if (last.role === 'assistant' && last.tool_calls.length === 0) {
    // A person continued without a message after the model's last one.
    added.push({ role: 'user', text: 'Continue.' });
  }
  await appendMessages(tx, item, added);
  return [...messages, ...added];
};

/** The attempt itself, inside its span: how it ended, and the tokens of all attempts so far. */
const attempt = async (
  deps: RunDeps,
  item: WorkItem,
  held: HeldLease,
): Promise<{ outcome: AttemptOutcome; usage: Usage }> => {
  const { db, egress, tracing, log, settings } = deps;
  const usage: Usage = { input_tokens: 0, output_tokens: 0, ...item.usage };
  try {
    const agent = await db.run((executor) => getAgent(executor, item.agent_id));
    const llm = await deps.llms.resolve(agent.llm_id);
    const model: Model = createModel(llm, egress.fetch, agent.model);
    const seconds = agent.settings.timeout_seconds;
    const timer = setTimeout(() => held.end('timeout'), seconds * 1_000);
    const { name, options } = invokeAgentSpan(item, agent, model);
    try {
      return await tracing.withSpan(name, options, async (span) => {
        const before = { ...usage };
        let outcome: AttemptOutcome;
        try {
          const tools = await deps.toolsOf(agent);
          const messages = await held.store((tx) =>
            openConversation(tx, item, agent, held.lease, tracing.traceId()),
          );
          outcome = await runSteps({
            item,
            held,
            model,
            tools,
            messages,
            usage,
            maxSteps: agent.settings.max_steps,
            captureContent: settings.get().CAPTURE_MESSAGE_CONTENT,
            tracing,
            log,
          });
        } catch (error) {
          outcome = outcomeOfError(error, held, log);
        }
        if (outcome.status === 'timeout') {
          const message = `The agent was not done after ${seconds} seconds (settings.timeout_seconds).`;
          outcome = { status: 'ERROR', error: { code: 'timeout', message } };
        }
        span.setAttributes(
          usageAttributes({
            input_tokens: usage.input_tokens - before.input_tokens,
            output_tokens: usage.output_tokens - before.output_tokens,
          }),
        );
        if ('error' in outcome) failSpan(span, outcome.error.code, outcome.error.message);
        else if (outcome.status !== 'COMPLETED' && outcome.status !== 'NEEDS_REVIEW') {
          failSpan(span, outcome.status);
        }
        return { outcome, usage };
      });
    } finally {
      clearTimeout(timer);
    }
  } catch (error) {
    return { outcome: outcomeOfError(error, held, log), usage };
  }
};

/** Stores how the attempt ended. Returns the status that the Work Item has now, null if the lease was lost. */
const finalize = (
  db: Database,
  item: WorkItem,
  held: HeldLease,
  attempted: AttemptOutcome,
  usage: Usage,
): Promise<WorkItem['status'] | null> =>
  db.tx(async (tx) => {
    const { lease } = held;
    const { alive, cancelRequested } = await heartbeat(tx, lease);
    // Whichever was committed first counts, a cancel or the result: the heartbeat has locked the row.
    const outcome: AttemptOutcome =
      cancelRequested && attempted.status !== 'stopped' ? { status: 'cancelled' } : attempted;
    const moved = await (async () => {
      switch (outcome.status) {
        case 'RETRY':
          return retry(tx, { ...lease, error: outcome.error, usage, waitSeconds: outcome.waitSeconds });
        case 'stopped':
          return release(tx, lease);
        case 'cancelled':
          return finish(tx, { ...lease, status: 'CANCELLED', usage });
        case 'NEEDS_REVIEW':
          return finish(tx, { ...lease, status: 'NEEDS_REVIEW', usage });
        case 'COMPLETED':
          if (alive) await appendMessages(tx, item, [outcome.last]);
          return finish(tx, { ...lease, status: 'COMPLETED', result: outcome.result, usage });
        case 'ERROR':
          if (alive && outcome.last) await appendMessages(tx, item, [outcome.last]);
          return finish(tx, { ...lease, status: 'ERROR', error: outcome.error, usage });
        case 'lost':
        case 'timeout':
          return null;
      }
    })();
    return moved?.status ?? null;
  });

/**
 * Runs one attempt at a claimed Work Item (product, section 10). The run is one trace of its own, which is durable
 * before the Work Item is reported as finished. Resolves to the status that it left the Work Item in; null if the lease
 * was lost, and another worker continues. Rejects if the end could not be stored: the lease then expires, with the same
 * effect.
 */
export const runWorkItem = async (
  deps: RunDeps,
  item: WorkItem,
  held: HeldLease,
): Promise<WorkItem['status'] | null> => {
  try {
    const { outcome, usage } = await attempt(deps, item, held);
    if (outcome.status === 'lost') return null;
    await withTimeout(deps.flush(), flushWithinMs).catch((error: unknown) => {
      deps.log.warn({ work_item_id: item.id, error: messageOf(error) }, 'the trace is not durable yet');
    });
    return await finalize(deps.db, item, held, outcome, usage);
  } finally {
    held.release();
  }
};
