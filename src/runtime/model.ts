import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, generateText, jsonSchema, type ModelMessage, type ToolSet, tool } from 'ai';
import type { Secret } from '../lib/crypto.ts';
import { EgressError } from '../lib/egress.ts';
import { retryAfterMs } from '../lib/retry-after.ts';
import { nestsDeeperThan } from '../lib/text.ts';
import type { ResolvedLlm } from '../llm-configurations/index.ts';
import { type Message, storable, type ToolCall } from './messages.ts';
import { mockModel } from './mock.ts';
import { type Model, ModelError, type StepRequest, type StepResult } from './step.ts';

/** The SDK writes no warnings to the console. */
globalThis.AI_SDK_LOG_WARNINGS = false;

/** No reply of a model is larger. */
const maxReplyBytes = 16 * 1024 * 1024;
/** Deeper arguments are refused, as in every body that the API reads. */
const maxNesting = 200;
const maxRetryAfterMs = 10 * 60_000;

const toSdkMessage = (message: Exclude<Message, { role: 'system' }>): ModelMessage => {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: message.text };
    case 'assistant':
      return {
        role: 'assistant',
        content: [
          ...(message.text === '' ? [] : [{ type: 'text' as const, text: message.text }]),
          ...message.tool_calls.map((call) => ({
            type: 'tool-call' as const,
            toolCallId: call.id,
            toolName: call.name,
            input: call.arguments,
          })),
        ],
      };
    case 'tool': {
      const { tool_call_id: toolCallId, tool_name: toolName, text: value, is_error } = message;
      const output = { type: is_error ? ('error-text' as const) : ('text' as const), value };
      return { role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output }] };
    }
  }
};

const toSdkTools = (tools: StepRequest['tools']): ToolSet =>
  Object.fromEntries(
    tools.map(({ name, description, inputSchema }) => [
      name,
      tool({ description, inputSchema: jsonSchema<unknown>(inputSchema) }),
    ]),
  );

const toToolCall = (call: {
  toolCallId: string;
  toolName: string;
  input: unknown;
  invalid?: boolean;
}): ToolCall => {
  const known = { id: storable(call.toolCallId), name: storable(call.toolName) };
  // The input of an unknown tool is valid if it is JSON; the loop then replies that there is no such tool.
  if (call.invalid && typeof call.input === 'string') {
    return { ...known, arguments: {}, fault: 'the arguments are not valid JSON' };
  }
  const text = JSON.stringify(call.input ?? {});
  if (nestsDeeperThan(text, maxNesting)) {
    return { ...known, arguments: {}, fault: `the arguments nest deeper than ${maxNesting} levels` };
  }
  const clean = (_key: string, value: unknown) => (typeof value === 'string' ? storable(value) : value);
  return { ...known, arguments: JSON.parse(text, clean) };
};

/** Some endpoints give every call the same id, or none, but results are matched by it. */
const withDistinctIds = (calls: ToolCall[]): ToolCall[] => {
  const seen = new Set<string>();
  return calls.map((call, i) => {
    const id = call.id === '' || seen.has(call.id) ? `${call.id || 'call'}_${i + 1}` : call.id;
    seen.add(id);
    return { ...call, id };
  });
};

/** `text` without any of `secrets` and without a key that the provider masked with stars; at most 300 characters. */
const scrub = (text: string, secrets: readonly Secret[]): string => {
  let scrubbed = storable(text);
  for (const secret of secrets.map((s) => s.reveal()).filter((s) => s !== '')) {
    scrubbed = scrubbed.replaceAll(secret, '[redacted]');
  }
  return [...scrubbed.replaceAll(/\S*\*{3,}\S*/g, '[redacted]')].slice(0, 300).join('');
};

/** The tokens that an endpoint reports, as a whole number; 0 if it reports nonsense. */
const tokenCount = (reported: number | undefined): number => {
  const count = Math.round(reported ?? 0);
  return Number.isSafeInteger(count) && count > 0 ? count : 0;
};

/** Null also if it may be tried again at once. */
const retryAfterOf = (headers: Record<string, string> | undefined): number | null =>
  Math.min(retryAfterMs(headers?.['retry-after'], Date.now()) ?? 0, maxRetryAfterMs) || null;

const causes = function* (error: unknown): Generator<unknown> {
  for (let at = error, depth = 0; at !== undefined && at !== null && depth < 8; depth++) {
    yield at;
    at = (at as { cause?: unknown }).cause;
  }
};

/** The ModelError for what the SDK threw; its message may be shown. */
const toModelError = (error: unknown, secrets: readonly Secret[]): ModelError => {
  for (const cause of causes(error)) {
    if (cause instanceof ModelError) return cause;
    if (cause instanceof EgressError) {
      return new ModelError('model_unavailable', `The model endpoint cannot be reached: ${cause.message}.`, {
        retryable: cause.kind !== 'denied',
      });
    }
  }
  const status = APICallError.isInstance(error) ? error.statusCode : undefined;
  if (!APICallError.isInstance(error) || (status !== undefined && status < 300)) {
    return new ModelError('model_answer_invalid', 'The model endpoint did not return a chat completion.', {
      retryable: true,
    });
  }
  if (status === undefined) {
    const code = [...causes(error)].map((cause) => (cause as { code?: unknown }).code).find(Boolean);
    const why = typeof code === 'string' ? ` (${code})` : '';
    return new ModelError('model_unavailable', `The model endpoint cannot be reached${why}.`, {
      retryable: true,
    });
  }
  const reason = scrub(error.message, secrets);
  const message = `The model endpoint returned ${status}${reason === '' ? '.' : `: ${reason}`}`;
  const wait = { retryable: true, retryAfterMs: retryAfterOf(error.responseHeaders) };
  if (status === 429) return new ModelError('model_rate_limited', message, wait);
  if (status === 408 || status >= 500) {
    return new ModelError('model_unavailable', message, wait);
  }
  return new ModelError(status === 401 || status === 403 ? 'model_unauthorized' : 'model_refused', message, {
    retryable: false,
  });
};

/** `fetch` whose response bodies fail after `maxReplyBytes`. */
const bounded =
  (fetch: typeof globalThis.fetch): typeof globalThis.fetch =>
  async (input, init) => {
    const response = await fetch(input, init);
    let bytes = 0;
    const limit = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        bytes += chunk.byteLength;
        if (bytes <= maxReplyBytes) controller.enqueue(chunk);
        else {
          controller.error(
            new ModelError(
              'model_answer_invalid',
              `The model's reply is larger than ${maxReplyBytes} bytes.`,
              {
                retryable: false,
              },
            ),
          );
        }
      },
    });
    const headers = [...response.headers];
    const bodyless = response.status === 204 || response.status === 304;
    return new Response(bodyless ? null : (response.body?.pipeThrough(limit) ?? null), {
      status: response.status,
      statusText: response.statusText,
      headers,
    });
  };

/** A model behind an endpoint that speaks OpenAI's chat completions. */
const openAiCompatible = (
  llm: ResolvedLlm & { kind: 'openai_compatible' },
  name: string,
  fetch: typeof globalThis.fetch,
): Model => {
  const secrets = [...(llm.apiKey ? [llm.apiKey] : []), ...Object.values(llm.headers)];
  // Always a model object of this provider: a bare name would be sent to the SDK's own gateway.
  const model = createOpenAICompatible({
    name: 'openai-compatible',
    baseURL: llm.base_url,
    ...(llm.apiKey ? { apiKey: llm.apiKey.reveal() } : {}),
    headers: Object.fromEntries(Object.entries(llm.headers).map(([key, value]) => [key, value.reveal()])),
    fetch: bounded(fetch),
  }).chatModel(name);
  return {
    provider: 'openai_compatible',
    name,
    step: async ({ messages, tools, signal }): Promise<StepResult> => {
      const instructions = messages.flatMap((m) => (m.role === 'system' ? [m.text] : [])).join('\n\n');
      try {
        // Without `execute` the SDK returns tool calls instead of making them: one step. The loop retries.
        const result = await generateText({
          model,
          ...(instructions === '' ? {} : { instructions }),
          messages: messages.filter((m) => m.role !== 'system').map(toSdkMessage),
          tools: toSdkTools(tools),
          maxRetries: 0,
          abortSignal: signal,
        });
        return {
          text: storable(result.text),
          toolCalls: withDistinctIds(result.toolCalls.map(toToolCall)),
          usage: {
            input_tokens: tokenCount(result.usage.inputTokens),
            output_tokens: tokenCount(result.usage.outputTokens),
          },
          finishReason: result.finishReason,
          responseModel: result.response.modelId || name,
          responseId: result.response.id || null,
        };
      } catch (error) {
        signal.throwIfAborted();
        throw toModelError(error, secrets);
      }
    },
  };
};

/**
 * The model of an LLM configuration; if `name` is given, that model instead of the configuration's own. Every
 * connection goes through `fetch`, which is the egress's.
 */
export const createModel = (
  llm: ResolvedLlm,
  fetch: typeof globalThis.fetch,
  name: string | null = null,
): Model => (llm.kind === 'mock' ? mockModel() : openAiCompatible(llm, name ?? llm.model, fetch));
