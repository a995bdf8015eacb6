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
import { append, carryOut, type Ending } from './steps.ts';
import type { Tool } from './tools.ts';

export interface RunDeps {
  db: Database;
  llms: Pick<LlmConfigurations, 'resolve'>;
  egress: Egress;
  log: Logger;
  settings: CurrentSettings;
  tracing: Tracing;
  /** Ended spans are durable. */
  flush: () => Promise<void>;
  /** The tools of an agent; asked for at the start of each attempt. */
  toolsOf: (agent: Agent) => Promise<readonly Tool[]>;
}

/** How an attempt came to an end. */
type Verdict =
  | Ending
  | { status: 'RETRY'; error: WorkItemError; waitSeconds: number }
  | { status: EndReason };

/** A Work Item is not reported as finished before its trace is durable, but no longer than this. */
const flushWithinMs = 2_000;

const internalError: WorkItemError = {
  code: 'internal_error',
  message: 'Something went wrong on our side; the logs say what, under the id of the Work Item.',
};

const verdictOf = (error: unknown, held: HeldLease, log: Logger): Verdict => {
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

/** The conversation so far, begun where this is the first attempt; and the trace of this one. */
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
    // A person continued after the model's last word without a word of their own.
    added.push({ role: 'user', text: 'Continue.' });
  }
  await append(tx, item, added);
  return [...messages, ...added];
};

/** The attempt itself, inside its span: what it came to, and the tokens of all attempts so far. */
const attempt = async (
  deps: RunDeps,
  item: WorkItem,
  held: HeldLease,
): Promise<{ verdict: Verdict; usage: Usage }> => {
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
        let verdict: Verdict;
        try {
          const tools = await deps.toolsOf(agent);
          const messages = await held.store((tx) =>
            openConversation(tx, item, agent, held.lease, tracing.traceId()),
          );
          verdict = await carryOut({
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
          verdict = verdictOf(error, held, log);
        }
        if (verdict.status === 'timeout') {
          const message = `The agent was not done after ${seconds} seconds (settings.timeout_seconds).`;
          verdict = { status: 'ERROR', error: { code: 'timeout', message } };
        }
        span.setAttributes(
          usageAttributes({
            input_tokens: usage.input_tokens - before.input_tokens,
            output_tokens: usage.output_tokens - before.output_tokens,
          }),
        );
        if ('error' in verdict) failSpan(span, verdict.error.code, verdict.error.message);
        else if (verdict.status !== 'COMPLETED' && verdict.status !== 'NEEDS_REVIEW') {
          failSpan(span, verdict.status);
        }
        return { verdict, usage };
      });
    } finally {
      clearTimeout(timer);
    }
  } catch (error) {
    return { verdict: verdictOf(error, held, log), usage };
  }
};

/** Write what the attempt came to; answers the status that the Work Item has now, null where the lease was lost. */
const conclude = (
  db: Database,
  item: WorkItem,
  held: HeldLease,
  verdict: Verdict,
  usage: Usage,
): Promise<WorkItem['status'] | null> =>
  db.tx(async (tx) => {
    const { lease } = held;
    const { alive, cancelRequested } = await heartbeat(tx, lease);
    // Whichever was committed first counts, a cancel or the result: the heartbeat holds the row from here on.
    const said: Verdict = cancelRequested && verdict.status !== 'stopped' ? { status: 'cancelled' } : verdict;
    const moved = await (async () => {
      switch (said.status) {
        case 'RETRY':
          return retry(tx, { ...lease, error: said.error, usage, waitSeconds: said.waitSeconds });
        case 'stopped':
          return release(tx, lease);
        case 'cancelled':
          return finish(tx, { ...lease, status: 'CANCELLED', usage });
        case 'NEEDS_REVIEW':
          return finish(tx, { ...lease, status: 'NEEDS_REVIEW', usage });
        case 'COMPLETED':
          if (alive) await append(tx, item, [said.last]);
          return finish(tx, { ...lease, status: 'COMPLETED', result: said.result, usage });
        case 'ERROR':
          if (alive && said.last) await append(tx, item, [said.last]);
          return finish(tx, { ...lease, status: 'ERROR', error: said.error, usage });
        case 'lost':
        case 'timeout':
          return null;
      }
    })();
    return moved?.status ?? null;
  });

/**
 * Carry out one attempt at a claimed Work Item (product, section 10). Its run is one trace of its own, which is
 * durable before the Work Item is reported as finished. Answers the status that it left the Work Item in; null
 * where the lease was lost, and another worker goes on. Rejects where the database could not be told: the lease
 * then runs out, with the same effect.
 */
export const runWorkItem = async (
  deps: RunDeps,
  item: WorkItem,
  held: HeldLease,
): Promise<WorkItem['status'] | null> => {
  try {
    const { verdict, usage } = await attempt(deps, item, held);
    if (verdict.status === 'lost') return null;
    await withTimeout(deps.flush(), flushWithinMs).catch((error: unknown) => {
      deps.log.warn({ work_item_id: item.id, error: messageOf(error) }, 'the trace is not durable yet');
    });
    return await conclude(deps.db, item, held, verdict, usage);
  } finally {
    held.release();
  }
};
