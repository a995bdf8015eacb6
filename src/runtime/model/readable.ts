import { isObject } from '../../lib/objects.ts';
import { ReportedError } from './errors.ts';
import { wordsIn } from './words.ts';

/** The fields of an error that a provider reports in a body. */
const errorIn = (body: Record<string, unknown>): unknown =>
  body.error ?? (body.object === 'error' ? body : undefined);

/** Throws what the body of a response of status 200 reports instead of a reply. */
const throwReported = (body: Record<string, unknown>): void => {
  // A reply counts, whatever stands next to it.
  if (Array.isArray(body.choices) && body.choices.length > 0) return;
  const error = errorIn(body);
  if (typeof error === 'string' && error !== '') throw new ReportedError(error, null, JSON.stringify(body));
  if (!isObject(error)) return;
  const status = [error.code, error.status, error.status_code, body.code, body.status_code]
    .map(Number)
    .find((code) => code >= 400 && code <= 599);
  throw new ReportedError(wordsIn(body) ?? JSON.stringify(error), status ?? null, JSON.stringify(body));
};

/** Arguments as an object become the text that the protocol has. */
const textArguments = (message: unknown): void => {
  if (!isObject(message) || !Array.isArray(message.tool_calls)) return;
  for (const call of message.tool_calls) {
    const called = isObject(call) ? call.function : undefined;
    if (isObject(called) && isObject(called.arguments)) called.arguments = JSON.stringify(called.arguments);
  }
};

/** A body or a chunk of chat completions, as the protocol has it. */
const asProtocol = (body: unknown): unknown => {
  if (!isObject(body) || !Array.isArray(body.choices)) return body;
  for (const choice of body.choices) {
    if (!isObject(choice)) continue;
    textArguments(choice.message);
    textArguments(choice.delta);
  }
  return body;
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const objectArguments = /"arguments"\s*:\s*\{/;

const withTextArguments = (line: string): string => {
  if (!line.startsWith('data:') || !objectArguments.test(line)) return line;
  const data = parsed(line.slice('data:'.length));
  return data === undefined ? line : `data: ${JSON.stringify(asProtocol(data))}`;
};

/** The lines of a stream, each changed by `change`. */
const changedLines = (change: (line: string) => string): TransformStream<string, string> => {
  // Of the last line; joined once, because a line may be as long as the reply.
  let parts: string[] = [];
  return new TransformStream({
    transform: (chunk, controller) => {
      if (!chunk.includes('\n')) return void parts.push(chunk);
      const lines = [...parts, chunk].join('').split('\n');
      parts = [lines.pop()!];
      controller.enqueue(lines.map((line) => `${change(line)}\n`).join(''));
    },
    flush: (controller) => controller.enqueue(change(parts.join(''))),
  });
};

const asStream = (response: Response): Response => {
  if (!response.body) return response;
  const { status, statusText, headers } = response;
  const body = response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(changedLines(withTextArguments))
    .pipeThrough(new TextEncoderStream());
  return new Response(body, { status, statusText, headers });
};

const asWhole = async (response: Response, isChat: boolean): Promise<Response> => {
  const { status, statusText, headers } = response;
  const text = await response.text();
  const body = parsed(text);
  if (isObject(body)) throwReported(body);
  const sent = isChat && objectArguments.test(text) ? JSON.stringify(asProtocol(body)) : text;
  return new Response(sent, { status, statusText, headers });
};

/**
 * `fetch` for servers that keep to their protocol only roughly. An error in a response of status 200 is thrown with its
 * text; arguments of calls that are objects become text, if `isChat`: the endpoint speaks chat completions.
 */
export const readableFetch =
  (
    fetch: typeof globalThis.fetch,
    { streamed, isChat }: { streamed: boolean; isChat: boolean },
  ): typeof globalThis.fetch =>
  async (input, init) => {
    const response = await fetch(input, init);
    if (!response.ok) return response;
    if (!streamed) return asWhole(response, isChat);
    return isChat ? asStream(response) : response;
  };
