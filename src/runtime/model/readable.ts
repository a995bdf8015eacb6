import { isObject } from '../../lib/objects.ts';
import { ReportedError } from './errors.ts';
import { wordsIn } from './words.ts';

/** The fields of an error that a provider reports in a body. */
const errorIn = (body: Record<string, unknown>): unknown =>
  body.error ?? (body.object === 'error' ? body : undefined);

/** Throws what a body or a chunk of status 200 reports instead of a reply. */
const throwReported = (body: Record<string, unknown>, inStream: boolean): void => {
  const choices = Array.isArray(body.choices) ? body.choices : [];
  // Routers say so of a reply that broke off, next to what had arrived of it.
  const failed = choices.find((choice) => isObject(choice) && choice.finish_reason === 'error');
  // A reply counts, whatever stands next to it.
  if (choices.length > 0 && !failed) return;
  const error = errorIn(body) ?? failed?.error ?? (failed && 'The reply ended with an error.');
  const text = JSON.stringify(body);
  if (typeof error === 'string' && error !== '') throw new ReportedError(error, null, text, inStream);
  if (!isObject(error)) return;
  const status = [error.code, error.status, error.status_code, body.code, body.status_code]
    .map(Number)
    .find((code) => code >= 400 && code <= 599);
  const words = wordsIn({ error }) ?? JSON.stringify(error);
  throw new ReportedError(words, status ?? null, text, inStream);
};

/** Throws what a body of chat completions says if it is neither a reply nor an error in the form of the protocol. */
const throwOtherWords = (body: Record<string, unknown>): void => {
  if ('choices' in body) return;
  const words = wordsIn(body);
  if (words !== undefined) throw new ReportedError(words, null, JSON.stringify(body), false);
};

/** Arguments as an object, or as a list for none, become the text that the protocol has. */
const textArguments = (message: unknown, isWhole: boolean): void => {
  if (!isObject(message) || !Array.isArray(message.tool_calls)) return;
  for (const call of message.tool_calls) {
    const called = isObject(call) ? call.function : undefined;
    if (!isObject(called)) continue;
    const { arguments: given } = called;
    if (isObject(given)) called.arguments = JSON.stringify(given);
    else if (Array.isArray(given) && given.length === 0) called.arguments = '{}';
    // In a stream they may come with a later chunk.
    else if (isWhole) called.arguments ??= '{}';
  }
};

/** A body or a chunk of chat completions, as the protocol has it. */
const asProtocol = (body: unknown): unknown => {
  if (!isObject(body) || !Array.isArray(body.choices)) return body;
  for (const choice of body.choices) {
    if (!isObject(choice)) continue;
    textArguments(choice.message, true);
    textArguments(choice.delta, false);
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

const objectArguments = /"arguments"\s*:\s*[{[]/;
/** The key or the value: most lines of a stream have neither. */
const errorInLine = /"error"/;
/** Null in all lines but the last with many servers. */
const usageInLine = /"usage"\s*:\s*\{/;

/** Receives the usage object of a reply; of several in a stream the last one counts. */
type OnUsage = (usage: Record<string, unknown>) => void;

/** Receives the usage object of a body that was received whole, and the name of the model next to it. */
type OnWhole = (usage: Record<string, unknown>, model: string | null) => void;

/** A line of a stream of chat completions as the protocol has it. Throws the error that it reports. */
const readableLine = (line: string, onUsage: OnUsage): string => {
  if (!line.startsWith('data:')) return line;
  const hasObject = objectArguments.test(line);
  if (!hasObject && !errorInLine.test(line) && !usageInLine.test(line)) return line;
  const data = parsed(line.slice('data:'.length));
  if (!isObject(data)) return line;
  throwReported(data, true);
  if (isObject(data.usage)) onUsage(data.usage);
  return hasObject ? `data: ${JSON.stringify(asProtocol(data))}` : line;
};

/** The lines of a stream, each changed by `change`. */
const changedLines = (change: (line: string) => string): TransformStream<string, string> => {
  // Parts of the last line. They are joined once, because a line may be as long as the reply.
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

const asStream = (response: Response, onUsage: OnUsage): Response => {
  if (!response.body) return response;
  const { status, statusText, headers } = response;
  const body = response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(changedLines((line) => readableLine(line, onUsage)))
    .pipeThrough(new TextEncoderStream());
  return new Response(body, { status, statusText, headers });
};

const asWhole = async (
  response: Response,
  isChat: boolean,
  onUsage: OnUsage,
  onWhole: OnWhole,
): Promise<Response> => {
  const { status, statusText, headers } = response;
  const text = await response.text();
  const body = parsed(text);
  if (isObject(body)) {
    const usage = body.usage ?? body.usageMetadata;
    const model = body.model ?? body.modelVersion;
    if (isObject(usage)) onWhole(usage, typeof model === 'string' && model !== '' ? model : null);
  }
  if (isObject(body)) throwReported(body, false);
  if (isChat && isObject(body)) {
    throwOtherWords(body);
    if (isObject(body.usage)) onUsage(body.usage);
  }
  const sent = isChat && text.includes('"tool_calls"') ? JSON.stringify(asProtocol(body)) : text;
  return new Response(sent, { status, statusText, headers });
};

/**
 * `fetch` for servers that keep to their protocol only roughly. An error in a response of status 200 is thrown with its
 * text; if `isChat`, the endpoint speaks chat completions: an error in their stream is thrown too, and arguments of calls
 * that are objects become text, and `onUsage` receives the usage object, of which the SDK keeps only a part. `onWhole`
 * receives that of every whole body, also if the reply in it cannot be read.
 */
export const readableFetch =
  (
    fetch: typeof globalThis.fetch,
    {
      streamed,
      isChat,
      onUsage,
      onWhole,
    }: { streamed: boolean; isChat: boolean; onUsage: OnUsage; onWhole: OnWhole },
  ): typeof globalThis.fetch =>
  async (input, init) => {
    const response = await fetch(input, init);
    if (!response.ok) return response;
    if (!streamed) return asWhole(response, isChat, onUsage, onWhole);
    return isChat ? asStream(response, onUsage) : response;
  };
