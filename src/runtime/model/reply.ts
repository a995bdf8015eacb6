import type { LanguageModelUsage, ModelMessage } from 'ai';
import type { Redactor } from '../../lib/redactor.ts';
import { storable } from '../../lib/storable.ts';
import { nestsDeeperThan } from '../../lib/text.ts';
import { usageOfTokens } from '../../lib/tokens.ts';
import { noUsage } from '../../lib/usage.ts';
import type { ToolCall } from '../messages.ts';
import type { StepResult } from '../step.ts';
import { type EndpointKind, reportedTokens } from './usage/index.ts';

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

/**
 * The usage object as the provider sent it, with what the SDK joined of the reports of a stream: what the last one has as
 * null was reported before.
 */
const sentUsage = (kind: EndpointKind, { raw, ...joined }: LanguageModelUsage) => {
  if (raw === undefined || kind !== 'anthropic') return raw;
  const { noCacheTokens, cacheReadTokens, cacheWriteTokens } = joined.inputTokenDetails;
  return {
    ...raw,
    input_tokens: raw.input_tokens ?? noCacheTokens,
    cache_read_input_tokens: raw.cache_read_input_tokens ?? cacheReadTokens,
    cache_creation_input_tokens: raw.cache_creation_input_tokens ?? cacheWriteTokens,
  };
};

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

/** A name that an endpoint sent, as it is stored. */
export const sentName = (given: string, redactor: Redactor): string =>
  [...redactor.text(storable(given))].slice(0, maxName).join('');

/**
 * The reply of the model `model` of the kind `kind`, as the loop uses and stores it. `usage` is the usage object of the wire
 * for protocols whose objects the SDK shortens.
 */
export const toStepResult = (
  reply: SdkReply,
  { kind, model, usage }: { kind: EndpointKind; model: string; usage: Record<string, unknown> | null },
  redactor: Redactor,
): StepResult => {
  const nameOf = (given: string) => sentName(given, redactor);
  const toolCalls = withDistinctIds(reply.toolCalls.map(toToolCall));
  const parts = partsOf(reply.responseMessages, toolCalls);
  const tokens = reportedTokens(kind, usage ?? sentUsage(kind, reply.usage));
  return {
    text: storable(reply.text),
    toolCalls,
    usage: tokens === null ? noUsage : usageOfTokens(tokens.tokens),
    tokens,
    finishReason: reply.finishReason,
    responseModel: nameOf(reply.response.modelId || model),
    responseId: reply.response.id ? nameOf(reply.response.id) : null,
    providerParts: parts && { kind, model, parts },
  };
};
