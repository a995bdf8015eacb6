import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { buckets, noTokens, type ReportedTokens, type Tokens, usageOfTokens } from '../lib/tokens.ts';
import { noUsage } from '../lib/usage.ts';
import { type Message, splitUserMessage } from './messages.ts';
import { mockJson } from './mock-extraction.ts';
import { Report } from './model/usage/index.ts';
import { resultReminder } from './result.ts';
import { type Model, ModelError, type StepRequest, type StepResult } from './step.ts';

const call = z.object({ tool: z.string(), args: z.unknown().optional() });
/** Tokens in the buckets, as an endpoint would report them, right or wrong. */
const usage = z.strictObject({
  ...(Object.fromEntries(buckets.map((bucket) => [bucket, z.number().optional()])) as Record<
    keyof Tokens,
    z.ZodOptional<z.ZodNumber>
  >),
  total: z.number().optional(),
});
const step = z.object({
  text: z.string().optional(),
  tool: z.string().optional(),
  args: z.unknown().optional(),
  tools: z.array(call).optional(),
  fail: z.string().optional(),
  delay_ms: z.number().min(0).optional(),
  delta_ms: z.number().min(0).optional(),
  reasoning: z.string().optional(),
  usage: usage.nullish(),
});
const script = z.object({
  steps: z.array(step).default([]),
  delay_ms: z.number().min(0).default(0),
  fail: z.string().optional(),
});

/** The script in the payload of the user message, or null. One that is invalid fails the step. */
const scriptOf = (payload: Record<string, unknown> | null): z.output<typeof script> | null => {
  if (payload?.mock === undefined) return null;
  const parsed = script.safeParse(payload.mock);
  if (!parsed.success) {
    throw new ModelError('model_refused', `payload.mock: ${z.prettifyError(parsed.error)}`, {
      retryable: false,
    });
  }
  return parsed.data;
};

/** The tokens that a step of a script reports; null: none. */
const scripted = (given: z.output<typeof usage> | null): ReportedTokens | null => {
  if (given === null) return null;
  const report = new Report();
  for (const bucket of buckets) report.add(bucket, report.count(given[bucket]));
  report.checkTotal(given.total);
  return report.result;
};

/** About four characters a token: the same text always has the same count. */
const countOf = (text: string): number => Math.ceil(text.length / 4);

const reply = (
  messages: readonly Message[],
  text: string,
  calls: z.output<typeof call>[],
  { reasoning, usage }: Pick<z.output<typeof step>, 'reasoning' | 'usage'> = {},
): StepResult => {
  const before = messages.filter((message) => message.role === 'assistant').length;
  const counted: Tokens = {
    ...noTokens,
    input: countOf(messages.map((message) => message.text).join('\n')),
    output: countOf(text + calls.map((wanted) => JSON.stringify(wanted)).join('')),
    reasoning: countOf(reasoning ?? ''),
  };
  const tokens = usage === undefined ? { tokens: counted, unreconciled: false } : scripted(usage);
  return {
    text,
    toolCalls: calls.map((wanted, i) => ({
      id: `mock_${before + 1}_${i + 1}`,
      name: wanted.tool,
      arguments: wanted.args ?? {},
    })),
    usage: tokens === null ? noUsage : usageOfTokens(tokens.tokens),
    tokens,
    finishReason: calls.length > 0 ? 'tool-calls' : 'stop',
    responseModel: 'mock',
    responseId: null,
    providerParts:
      reasoning === undefined
        ? null
        : { kind: 'mock', model: 'mock', parts: [{ type: 'reasoning', text: reasoning }] },
  };
};

/** Sends `text` word by word, each after `delayMs`. */
const sendWords = async (
  text: string,
  { onDelta, signal }: StepRequest,
  delayMs: number | undefined,
): Promise<void> => {
  if (!onDelta) return;
  for (const [word] of text.matchAll(/\s*\S+\s*/g)) {
    if (delayMs) await sleep(delayMs, undefined, { signal });
    onDelta(word);
  }
};

/**
 * The built-in model: deterministic, without a network, so that the demo and every test run without a provider.
 *
 * It reads the conversation from the last user message on. By default it calls `current_time` once, if the agent has
 * that tool, and then replies with a summary of the message. A `mock` object in the payload of the Work Item is a script
 * instead:
 *
 *     {"mock": {"steps": [{"tool": "request_review", "args": {"reason": "…"}},
 *                         {"tools": [{"tool": "a"}, {"tool": "b", "args": {}}]},
 *                         {"text": "The answer.", "delay_ms": 500}],
 *               "delay_ms": 10, "fail": "out of order"}}
 *
 * Each model call takes the next step; a step may have both `text` and `tool`. After the last step the model replies as
 * by default, without a tool. `delay_ms` waits before a step (the outer one: before every step) and is cut short when the
 * call is aborted. `fail` makes the step (the outer one: every step) fail with this message, as an unreachable provider
 * would: it is tried again while attempts are left. `delta_ms` of a step waits before each word that is sent to
 * `onDelta`. `reasoning` of a step is stored as a provider's reasoning is, and never shown. `usage` of a step are the tokens
 * that it reports, `{"input": 100, "cache_read": 20, "total": 120}`; null: it reports none.
 */
export const mockModel = (): Model => ({
  provider: 'mock',
  name: 'mock',
  step: async (request) => {
    const { messages, tools, signal } = request;
    if (request.output) return reply(messages, mockJson(messages, request.output), []);
    const from = messages.findLastIndex(({ role, text }) => role === 'user' && text !== resultReminder);
    const { message, payload } = splitUserMessage(messages[from]?.text ?? '');
    const since = messages.slice(from + 1);
    const index = since.filter(({ role }) => role === 'assistant').length;
    const script = scriptOf(payload);
    const step = script?.steps[index];

    const delay = step?.delay_ms ?? script?.delay_ms ?? 0;
    if (delay > 0) await sleep(delay, undefined, { signal });
    signal.throwIfAborted();
    const fail = step?.fail ?? script?.fail;
    if (fail !== undefined) throw new ModelError('model_unavailable', fail, { retryable: true });

    if (step) {
      const calls = step.tools ?? (step.tool === undefined ? [] : [{ tool: step.tool, args: step.args }]);
      await sendWords(step.text ?? '', request, step.delta_ms);
      return reply(messages, step.text ?? '', calls, step);
    }
    if (!script && index === 0 && tools.some(({ name }) => name === 'current_time')) {
      const text = 'Let me look at the clock.';
      await sendWords(text, request, undefined);
      return reply(messages, text, [{ tool: 'current_time' }]);
    }
    const results = since.flatMap((entry) =>
      entry.role === 'tool' ? [`${entry.tool_name}: ${entry.text}`] : [],
    );
    const short = [...message].slice(0, 200).join('');
    const text = [`This is the mock model's answer to: ${short || '(no message)'}`, ...results].join('\n');
    await sendWords(text, request, undefined);
    return reply(messages, text, []);
  },
});
