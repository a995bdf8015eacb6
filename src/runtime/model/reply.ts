import type { LanguageModelUsage, ModelMessage } from 'ai';
import type { Redactor } from '../../lib/redactor.ts';
import { storable } from '../../lib/storable.ts';
import { nestsDeeperThan } from '../../lib/text.ts';
import type { Usage } from '../../lib/usage.ts';
import type { ToolCall } from '../messages.ts';
import type { StepResult } from '../step.ts';

/** Deeper arguments are refused, as in every body that the API reads. */
const maxNesting = 200;

/** A call as the SDK reports it; `input` is text if it was not JSON. */
interface SdkCall {
  toolCallId: string;
  toolName: string;
  input: unknown;
  invalid?: boolean | undefined;
}

/** A reply as `generateText` and `streamText` report it. */
export interface SdkReply {
  text: string;
  toolCalls: readonly SdkCall[];
  usage: LanguageModelUsage;
  finishReason: string;
  response: { id?: string; modelId?: string };
  responseMessages: readonly ModelMessage[];
}

const toToolCall = (call: SdkCall): ToolCall => {
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
    let id = call.id === '' || seen.has(call.id) ? `${call.id || 'call'}_${i + 1}` : call.id;
    while (seen.has(id)) id += '_';
    seen.add(id);
    return { ...call, id };
  });
};

/** The tokens that an endpoint reports, as a whole number; 0 if it reports nonsense. */
const tokenCount = (reported: number | undefined): number => {
  const count = Math.round(reported ?? 0);
  return Number.isSafeInteger(count) && count > 0 ? count : 0;
};

const usageOf = ({
  inputTokens,
  inputTokenDetails,
  outputTokens,
  outputTokenDetails,
}: LanguageModelUsage): Usage => ({
  input_tokens: tokenCount(inputTokens),
  output_tokens: tokenCount(outputTokens),
  cached_input_tokens: tokenCount(inputTokenDetails?.cacheReadTokens),
  reasoning_tokens: tokenCount(outputTokenDetails?.reasoningTokens),
});

/**
 * The assistant's messages as the SDK gave them, with the ids and arguments of `calls`: results are matched by these
 * ids, and arguments that were not JSON are refused by some providers. Null if there is nothing that text and calls do
 * not say.
 */
const partsOf = (messages: readonly ModelMessage[], calls: readonly ToolCall[]): unknown[] | null => {
  let at = 0;
  let more = false;
  const parts = messages.flatMap((message) => {
    // A result that the SDK made up for arguments that it could not read.
    if (message.role !== 'assistant') return [];
    if (typeof message.content === 'string') return [message];
    const content = message.content.map((part) => {
      more ||= (part.type !== 'text' && part.type !== 'tool-call') || part.providerOptions !== undefined;
      if (part.type !== 'tool-call') return part;
      const call = calls[at++];
      return call ? { ...part, toolCallId: call.id, input: call.arguments } : part;
    });
    return [{ ...message, content }];
  });
  return more && at === calls.length ? parts : null;
};

/** The longest name of a model and id of a reply, in characters. */
const maxName = 500;

/** The reply of the model `model` of the kind `kind`, as the loop uses and stores it. */
export const toStepResult = (
  reply: SdkReply,
  kind: string,
  model: string,
  redactor: Redactor,
): StepResult => {
  const nameOf = (given: string) => [...redactor.text(storable(given))].slice(0, maxName).join('');
  const toolCalls = withDistinctIds(reply.toolCalls.map(toToolCall));
  const parts = partsOf(reply.responseMessages, toolCalls);
  return {
    text: storable(reply.text),
    toolCalls,
    usage: usageOf(reply.usage),
    finishReason: reply.finishReason,
    responseModel: nameOf(reply.response.modelId || model),
    responseId: reply.response.id ? nameOf(reply.response.id) : null,
    providerParts: parts && { kind, model, parts },
  };
};
