import { isBudgetRefusal } from '../budgets/index.ts';
import type { Usage } from '../lib/usage.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import { type Attempt, save } from './attempt.ts';
import { type Allowance, allowanceOf } from './budget.ts';
import { applyCut, cutFurther, isNearlyFull } from './context.ts';
import { askInTurn, type Candidate } from './fallback.ts';
import { objectIn } from './json-text.ts';
import { orAborted, RunEnded } from './lease.ts';
import { inOrder, type Message } from './messages.ts';
import { resultReminder, submitResultName, textReminderFor, wasReminded } from './result.ts';
import type { RunOutcome } from './run-store.ts';
import { chatSpan, contentAttributes, costAttributes, failSpan, replyAttributes } from './spans.ts';
import { ModelError, type StepResult } from './step.ts';
import { executeCalls } from './tool-calls.ts';

/** Returns the message as a model gets it: a person may have changed the arguments of a call. */
const asSent = (message: Message): Message => {
  if (message.role !== 'tool' || message.executed_arguments === undefined) return message;
  const { executed_arguments, ...sent } = message;
  const changed = JSON.stringify(executed_arguments);
  return {
    ...sent,
    text: `A person changed the arguments of this call before it was made, to: ${changed}\n\n${sent.text}`,
  };
};

/** A model call that is aborted ends within this time, or is charged late. */
const chargedWithinMs = 1_000;

const errorType = (error: unknown): string => {
  if (error instanceof ModelError || isBudgetRefusal(error)) return error.code;
  return error instanceof RunEnded ? error.reason : 'internal_error';
};

const askOnce = (
  attempt: Attempt,
  { model }: Candidate,
  messages: readonly Message[],
  maxOutputTokens: number | null,
): Promise<StepResult> => {
  const { run, tools, tracing, captureContent } = attempt;
  const { signal } = run.held;
  const { name, options } = chatSpan(run, model);
  const beganAt = performance.now();
  const record = (
    spanId: string,
    more: { error: string } | { tokens: Usage; notes: readonly string[] | null },
  ): void => {
    const status = 'error' in more ? 'error' : 'ok';
    const time = { beganAt, endedAt: performance.now() };
    const charges = attempt.charges.splice(0);
    const whole = { error: null, tokens: null, message: null, notes: null, charges, ...more };
    attempt.steps.push({
      kind: 'model',
      name: model.name,
      status,
      ...time,
      model: model.name,
      spanId,
      ...whole,
    });
  };
  return tracing.withSpan(name, options, async (span) => {
    const { traceId, spanId } = span.spanContext();
    if (captureContent) span.setAttributes(contentAttributes(messages, null));
    try {
      const onDelta = run.beginReply?.();
      const request = {
        messages,
        tools,
        signal,
        maxOutputTokens,
        cacheKey: run.agentId,
        span: { traceId, spanId },
        ...(onDelta ? { onDelta } : {}),
      };
      const step = model.step(request);
      const reply = await orAborted(step, signal).catch(async (error: unknown) => {
        // What was charged comes with the end of the call, a moment after the signal.
        await withTimeout(step, chargedWithinMs).catch(() => {});
        throw error;
      });
      span.setAttributes({ ...replyAttributes(reply), ...costAttributes(attempt.charges) });
      if (captureContent) span.setAttributes(contentAttributes(messages, reply));
      record(spanId, { tokens: reply.usage, notes: reply.notes ?? null });
      if (reply.notes) span.setAttributes({ 'agent_platform.notes': [...reply.notes] });
      for (const note of reply.notes ?? [])
        attempt.log.warn({ run_id: run.id, note }, 'a model was asked otherwise');
      attempt.model = model.name;
      return reply;
    } catch (error) {
      record(spanId, { error: errorType(error) });
      failSpan(span, errorType(error));
      throw error;
    }
  });
};

/** Asks the model for the next step; again with less of the conversation if that is too long for it. */
const ask = async (
  attempt: Attempt,
  candidate: Candidate,
  { maxOutputTokens }: Allowance,
): Promise<StepResult> => {
  const { contextTokens } = candidate;
  const messages = inOrder(attempt.messages);
  if (isNearlyFull(attempt.context, contextTokens)) {
    attempt.context = cutFurther(messages, attempt.context, contextTokens) ?? attempt.context;
  }
  for (;;) {
    try {
      const sent = applyCut(messages, attempt.context).map(asSent);
      return await askOnce(attempt, candidate, sent, maxOutputTokens);
    } catch (error) {
      if (!(error instanceof ModelError) || error.code !== 'context_too_long') throw error;
      const cut = cutFurther(messages, attempt.context, contextTokens);
      if (!cut) throw error;
      attempt.context = cut;
    }
  }
};

/** Counts exactly what the provider reported. */
const count = (attempt: Attempt, { usage }: StepResult): void => {
  for (const name of Object.keys(usage) as (keyof Usage)[]) attempt.usage[name] += usage[name];
  attempt.usage.model_calls++;
  if (usage.input_tokens > 0) {
    attempt.context = { ...attempt.context, lastInputTokens: usage.input_tokens };
  }
};

const replyMessage = ({ text, toolCalls, providerParts }: StepResult): Message & { role: 'assistant' } => ({
  role: 'assistant',
  text,
  tool_calls: toolCalls,
  ...(providerParts === null ? {} : { provider_parts: providerParts }),
});

const failed = (code: string, message: string, last: Message[] = []): RunOutcome => ({
  status: 'ERROR',
  error: { code, message },
  messages: last,
});

const budgetSpent = ({ limits }: Attempt, last: Message[] = []): RunOutcome =>
  failed('max_tokens', `The agent has used its ${limits.max_tokens} tokens (settings.max_tokens).`, last);

/** Returns the outcome of a run after a reply without tool calls; null if the run goes on. */
const outcomeOf = async (
  attempt: Attempt,
  reply: StepResult,
  { byBudget }: Allowance,
): Promise<RunOutcome | null> => {
  const last = replyMessage(reply);
  switch (reply.finishReason) {
    case 'length':
      if (byBudget) return budgetSpent(attempt, [last]);
      return failed('model_answer_truncated', "The model's reply was cut off at its limit of tokens.", [
        last,
      ]);
    case 'content-filter':
      return failed(
        'model_answer_filtered',
        "The model's reply was withheld by the provider's content filter.",
        [last],
      );
  }
  const { resultCheck } = attempt;
  if (!resultCheck) return { status: 'COMPLETED', result: reply.text, messages: [last] };
  const submit = attempt.tools.find(({ name }) => name === submitResultName);
  // A model that does not get the tool gives the result in its text.
  const inText = submit && reply.leftOut?.includes(submitResultName) === true;
  const result = inText ? objectIn(reply.text) : undefined;
  if (result && resultCheck(result) === null) return { status: 'COMPLETED', result, messages: [last] };
  if (wasReminded(attempt.messages)) {
    return failed('result_invalid', 'The agent did not submit a result that its result_schema allows.', [
      last,
    ]);
  }
  const reminder = inText ? textReminderFor(submit) : resultReminder;
  await save(attempt, { messages: [last, { role: 'user', text: reminder }], newReply: true });
  return null;
};

/**
 * The loop of one attempt: a model call, its tool calls, and again, until the model calls no more tools. Every message
 * is stored as it happens, in a transaction that only the holder of the lease can commit, so that another attempt can
 * continue from where this one was lost. A step with one tool call is two transactions: the reply, and the result.
 * Throws RunEnded and ModelError.
 */
export const runSteps = async (attempt: Attempt): Promise<RunOutcome> => {
  const { run, limits, start, usage } = attempt;
  let outcome = await executeCalls(attempt, null);
  for (let step = 1; outcome === null; step++) {
    run.held.signal.throwIfAborted();
    if (step > limits.max_steps) {
      return failed(
        'max_steps',
        `The agent was not done after ${limits.max_steps} steps (settings.max_steps).`,
      );
    }
    const allowance = allowanceOf(limits, usage, start.tokensBefore);
    if (!allowance) return budgetSpent(attempt);
    const cheaper = await attempt.substitute?.(attempt.candidates[0]!);
    const candidates = cheaper ? [cheaper] : attempt.candidates;
    const reply = await askInTurn(candidates, (candidate) => ask(attempt, candidate, allowance));
    count(attempt, reply);
    outcome =
      reply.toolCalls.length === 0
        ? await outcomeOf(attempt, reply, allowance)
        : await executeCalls(attempt, replyMessage(reply));
  }
  return outcome;
};
