import { type generateText, streamText, generateText as textOf } from 'ai';
import type { StepRequest } from '../step.ts';
import { incomplete } from './errors.ts';
import type { SdkReply } from './reply.ts';
import type { Watch } from './watch.ts';

/** Arguments that both functions of the SDK take. */
type SdkCall = Parameters<typeof generateText>[0] & { messages: object[] };

/** The SDK writes no warnings to the console. */
globalThis.AI_SDK_LOG_WARNINGS = false;

/**
 * `onDelta` for text that the database can hold: without NUL, and never with half of a surrogate pair, of which the
 * second half may come with the next chunk.
 */
const wellFormedDeltas = (onDelta: (text: string) => void) => {
  let held = '';
  return (chunk: string, last = false) => {
    const text = held + chunk.replaceAll('\u0000', '');
    const code = text.charCodeAt(text.length - 1);
    const half = !last && code >= 0xd800 && code <= 0xdbff;
    held = half ? text.slice(-1) : '';
    const whole = (half ? text.slice(0, -1) : text).toWellFormed();
    if (whole !== '') onDelta(whole);
  };
};

/** One reply, received whole. Rejects with what the SDK throws. */
export const receiveWhole = async (call: SdkCall, onDelta: StepRequest['onDelta']): Promise<SdkReply> => {
  const result = await textOf(call);
  if (onDelta && result.text !== '') wellFormedDeltas(onDelta)(result.text, true);
  return {
    text: result.text,
    toolCalls: result.toolCalls,
    usage: result.usage,
    finishReason: result.finishReason,
    response: result.response,
    responseMessages: result.responseMessages,
  };
};

/** Parts of a stream that show that the model has begun its reply. */
const tokenParts = new Set([
  'text-delta',
  'reasoning-delta',
  'tool-input-start',
  'tool-input-delta',
  'tool-call',
  'file',
]);

/**
 * One reply, received as it is generated. Rejects with what the SDK throws or reports inside the stream, and when the
 * stream ends before the provider said that the reply is complete.
 */
export const receiveStream = async (
  call: SdkCall,
  watch: Watch,
  onDelta: StepRequest['onDelta'],
): Promise<SdkReply> => {
  const delta = onDelta && wellFormedDeltas(onDelta);
  const result = streamText({ ...call, onError: () => {} });
  for await (const part of result.stream) {
    if (tokenParts.has(part.type)) {
      watch.partial = true;
      watch.token();
    }
    if (part.type === 'text-delta') delta?.(part.text);
    else if (part.type === 'error') throw part.error;
    else if (part.type === 'abort') throw watch.signal.reason;
  }
  delta?.('', true);
  const [step, responseMessages] = await Promise.all([result.finalStep, result.responseMessages]);
  const { finishReason, rawFinishReason } = step;
  const unfinished = finishReason === 'other' && rawFinishReason === undefined;
  if (unfinished || finishReason === 'error' || finishReason === 'interrupted') throw incomplete(watch);
  return {
    text: step.text,
    toolCalls: step.toolCalls,
    usage: step.usage,
    finishReason,
    response: step.response,
    responseMessages,
  };
};
