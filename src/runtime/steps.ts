import type { Tx } from '../database/index.ts';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import type { Tracing } from '../telemetry/index.ts';
import { appendMessage, setToolInFlight, type WorkItem, type WorkItemError } from '../work-items/index.ts';
import { type HeldLease, orAborted, RunEnded } from './lease.ts';
import { inOrder, type Message, openCalls, storable, type ToolCall, toContent } from './messages.ts';
import {
  chatSpan,
  contentAttributes,
  failSpan,
  replyAttributes,
  toolContentAttributes,
  toolSpan,
} from './spans.ts';
import { type Model, ModelError, type StepResult, type Usage } from './step.ts';
import type { Tool, ToolResult } from './tools.ts';

/** One attempt at a Work Item: what it works with. */
export interface Attempt {
  item: WorkItem;
  held: HeldLease;
  model: Model;
  tools: readonly Tool[];
  /** The conversation as it is stored; each stored message is added. */
  messages: Message[];
  /** Tokens of all attempts so far; each step adds its own. */
  usage: Usage;
  maxSteps: number;
  /** Whether prompts and replies go into the spans. */
  captureContent: boolean;
  tracing: Tracing;
  log: Logger;
}

/** How the steps ended. `last` is not stored yet: it goes into the transaction that ends the execution. */
export type RunOutcome =
  | { status: 'COMPLETED'; result: string; last: Message }
  | { status: 'NEEDS_REVIEW' }
  | { status: 'ERROR'; error: WorkItemError; last?: Message };

/** Longer tool results are cut: they would be sent to the model again with every step. */
const maxToolText = 200_000;

/** Stores messages of the conversation. */
export const appendMessages = async (tx: Tx, item: WorkItem, messages: readonly Message[]): Promise<void> => {
  for (const message of messages) {
    await appendMessage(tx, {
      work_item_id: item.id,
      conversation_id: item.conversation_id,
      role: message.role,
      content: toContent(message),
    });
  }
};

/** Whether the call must not be repeated: if the worker is lost during it, no one knows whether it took place. */
const isUnsafe = (attempt: Attempt, call: ToolCall): boolean =>
  attempt.tools.some((tool) => tool.name === call.name && !tool.idempotent) && call.fault === undefined;

/** Stores what happened, in one transaction, before anything relies on it. */
const store = async (attempt: Attempt, messages: Message[], unsafeBefore: boolean): Promise<void> => {
  const { item, held, tracing } = attempt;
  const after = [...attempt.messages, ...messages];
  const unsafeAfter = openCalls(after).some((call) => isUnsafe(attempt, call));
  await tracing.withSpan('store step', { application: true }, () =>
    held.store(async (tx) => {
      await appendMessages(tx, item, messages);
      if (unsafeAfter !== unsafeBefore) await setToolInFlight(tx, { ...held.lease, inFlight: unsafeAfter });
    }),
  );
  attempt.messages.push(...messages);
};

const chat = (attempt: Attempt): Promise<StepResult> => {
  const { item, model, tools, held, tracing } = attempt;
  const messages = inOrder(attempt.messages);
  const { name, options } = chatSpan(item, model);
  return tracing.withSpan(name, options, async (span) => {
    if (attempt.captureContent) span.setAttributes(contentAttributes(messages, null));
    try {
      const reply = await orAborted(model.step({ messages, tools, signal: held.signal }), held.signal);
      span.setAttributes(replyAttributes(reply));
      if (attempt.captureContent) span.setAttributes(contentAttributes(messages, reply));
      return reply;
    } catch (error) {
      const type =
        error instanceof ModelError
          ? error.code
          : error instanceof RunEnded
            ? error.reason
            : 'internal_error';
      failSpan(span, type);
      throw error;
    }
  });
};

const callTool = async (attempt: Attempt, call: ToolCall): Promise<ToolResult> => {
  const { item, tools, held, log } = attempt;
  const refuse = (text: string): ToolResult => ({ text, isError: true });
  const tool = tools.find(({ name }) => name === call.name);
  if (!tool) {
    return refuse(`There is no tool ${call.name}. The tools are: ${tools.map((t) => t.name).join(', ')}.`);
  }
  if (call.fault !== undefined) return refuse(`The tool was not called: ${call.fault}.`);
  const context = { workItemId: item.id, agentId: item.agent_id, signal: held.signal };
  try {
    return await orAborted(tool.call(call.arguments, context), held.signal);
  } catch (error) {
    held.signal.throwIfAborted();
    // The message of an unknown error may hold what no one should read.
    log.warn({ work_item_id: item.id, tool: call.name, error: messageOf(error) }, 'a tool call failed');
    return refuse('The tool failed.');
  }
};

const executeTool = (attempt: Attempt, call: ToolCall): Promise<ToolResult> => {
  const { name, options } = toolSpan(call);
  return attempt.tracing.withSpan(name, options, async (span) => {
    try {
      const result = await callTool(attempt, call);
      const whole = storable(result.text);
      const text = whole.length <= maxToolText ? whole : `${storable(whole.slice(0, maxToolText))} [cut]`;
      if (result.isError) failSpan(span, 'tool_error');
      if (attempt.captureContent) span.setAttributes(toolContentAttributes(call, text));
      return { ...result, text };
    } catch (error) {
      failSpan(span, error instanceof RunEnded ? error.reason : 'internal_error');
      throw error;
    }
  });
};

const toolMessage = (call: ToolCall, { text, isError = false }: ToolResult): Message => ({
  role: 'tool',
  tool_call_id: call.id,
  tool_name: call.name,
  text,
  is_error: isError,
});

/** Makes the calls of the last reply that have no result yet. Returns the reason if a tool requests a review. */
const executeOpenCalls = async (attempt: Attempt, interrupted: boolean): Promise<string | null> => {
  let review: string | null = null;
  for (const call of openCalls(attempt.messages)) {
    const unsafeBefore = openCalls(attempt.messages).some((open) => isUnsafe(attempt, open));
    let result: ToolResult;
    if (review !== null) {
      result = { text: 'The tool was not called: a person was asked to review first.', isError: true };
    } else if (interrupted && isUnsafe(attempt, call)) {
      const text =
        'The call was interrupted; whether it took effect is not known. Find out before you repeat it.';
      result = { text, isError: true };
    } else result = await executeTool(attempt, call);
    await store(attempt, [toolMessage(call, result)], unsafeBefore);
    review ??= result.review ?? null;
  }
  return review;
};

/** How a reply without tool calls ends the run. */
const outcomeOf = (reply: StepResult): RunOutcome => {
  const last: Message = { role: 'assistant', text: reply.text, tool_calls: [] };
  const failed = (code: string, message: string): RunOutcome => ({
    status: 'ERROR',
    error: { code, message },
    last,
  });
  switch (reply.finishReason) {
    case 'length':
      return failed('model_answer_truncated', "The model's reply was cut off at its limit of tokens.");
    case 'content-filter':
      return failed(
        'model_answer_filtered',
        "The model's reply was withheld by the provider's content filter.",
      );
    default:
      return { status: 'COMPLETED', result: reply.text, last };
  }
};

/**
 * The loop of one attempt: a model call, its tool calls, and again, until the model calls no more tools. Every message
 * is stored as it happens, in one transaction per step that only the holder of the lease can commit, so that another
 * attempt can continue from where this one was lost. From the reply with a call that must not be repeated until that
 * call's result is stored, the Work Item is marked accordingly. Throws RunEnded and ModelError.
 */
export const runSteps = async (attempt: Attempt): Promise<RunOutcome> => {
  let review = await executeOpenCalls(attempt, true);
  for (let step = 1; ; step++) {
    attempt.held.signal.throwIfAborted();
    if (review !== null) return { status: 'NEEDS_REVIEW' };
    if (step > attempt.maxSteps) {
      const message = `The agent was not done after ${attempt.maxSteps} steps (settings.max_steps).`;
      return { status: 'ERROR', error: { code: 'max_steps', message } };
    }
    const reply = await chat(attempt);
    attempt.usage.input_tokens += reply.usage.input_tokens;
    attempt.usage.output_tokens += reply.usage.output_tokens;
    if (reply.toolCalls.length === 0) return outcomeOf(reply);
    await store(attempt, [{ role: 'assistant', text: reply.text, tool_calls: reply.toolCalls }], false);
    review = await executeOpenCalls(attempt, false);
  }
};
