import { APICallError } from 'ai';
import { EgressError } from '../../lib/egress.ts';
import type { Redactor } from '../../lib/redactor.ts';
import { retryAfterMs } from '../../lib/retry-after.ts';
import { storable } from '../../lib/storable.ts';
import { ModelError } from '../step.ts';
import { refusedPart } from './refused.ts';
import type { Watch } from './watch.ts';
import { wordsIn } from './words.ts';

const maxRetryAfterMs = 10 * 60_000;

/** `text` without secrets and without a key that the provider masked with stars; at most 300 characters. */
const scrub = (text: string, redactor: Redactor): string => {
  const scrubbed = redactor.text(storable(text)).replaceAll(/\S*\*{3,}\S*/g, '[redacted]');
  return [...scrubbed].slice(0, 300).join('');
};

/** Google says in the body how long to wait: `"retryDelay": "37s"`. */
const retryDelay = /"retryDelay":\s*"(\d+)(?:\.\d+)?s"/;

/** Returns the time to wait before another try; null also if the call may be tried again at once. */
const retryAfterOf = ({ headers, searched }: Refusal): number | null => {
  const header = headers?.['retry-after'] ?? retryDelay.exec(searched)?.[1];
  return Math.min(retryAfterMs(header, Date.now()) ?? 0, maxRetryAfterMs) || null;
};

const causes = function* (error: unknown): Generator<unknown> {
  for (let at = error, depth = 0; at !== undefined && at !== null && depth < 8; depth++) {
    yield at;
    at = (at as { cause?: unknown }).cause;
  }
};

/** Refusal of a provider: an HTTP response, or an error inside a stream. */
interface Refusal {
  status: number;
  message: string;
  /** The message, the type and the code of the error, as text to search. */
  searched: string;
  headers: Record<string, string> | undefined;
}

const wordsOf = (body: string): string | undefined => {
  try {
    return wordsIn(JSON.parse(body));
  } catch {
    return undefined;
  }
};

const refusalOf = (error: unknown): Refusal | null => {
  for (const cause of causes(error)) {
    const { statusCode, message, responseHeaders, responseBody, data } = cause as Partial<APICallError> & {
      data?: unknown;
    };
    if (typeof statusCode !== 'number' || statusCode < 300) continue;
    const body = typeof responseBody === 'string' ? responseBody : JSON.stringify(data ?? '');
    // The SDK knows one form of errors, and shows the status line of others.
    const said = body.includes(JSON.stringify(message ?? '').slice(1, -1)) ? message : wordsOf(body);
    const shown = said ?? (typeof message === 'string' ? message : '');
    return { status: statusCode, message: shown, searched: `${shown} ${body}`, headers: responseHeaders };
  }
  return null;
};

/**
 * A conversation that is too long for the model, as the providers document it: OpenAI and Azure `context_length_exceeded`;
 * Anthropic `prompt is too long` and `request_too_large`; Google `input token count … exceeds the maximum`; Bedrock
 * `Input is too long`; and what servers of open models say.
 */
const tooLong = new RegExp(
  [
    'context_length_exceeded',
    'maximum context length',
    'prompt is too long',
    'request_too_large',
    'exceed context limit',
    'input token count .{0,40}exceeds the maximum',
    'input is too long',
    'too many input tokens',
    'input tokens? .{0,60}exceed',
    'exceeds? the (available|maximum) context',
    'exceed_context_size_error',
    'greater than the context length',
    'context (window|length|size) .{0,40}exceed',
    'exceeds? (the |this |your )?(model.{0,20})?context (window|length|size|limit)',
  ].join('|'),
  'i',
);
const tooLongStatuses = [400, 413, 422, 500];

/** Google reports a wrong key as an invalid request. */
const wrongKey = /API_KEY_INVALID|API key (not valid|expired)/i;

const ofRefusal = (refusal: Refusal, redactor: Redactor): ModelError => {
  const { status, message, searched } = refusal;
  const reason = scrub(message, redactor);
  const text = `The model endpoint returned ${status}${reason === '' ? '.' : `: ${reason}`}`;
  const wait = { retryable: true, retryAfterMs: retryAfterOf(refusal) };
  const final = { retryable: false };
  if (tooLongStatuses.includes(status) && tooLong.test(searched)) {
    return new ModelError('context_too_long', text, final);
  }
  if (status === 429) return new ModelError('model_rate_limited', text, wait);
  const refused = refusedPart(status, searched);
  if (refused !== null && status >= 500) return new ModelError('model_refused', text, { ...final, refused });
  if (status === 408 || status === 424 || status >= 500)
    return new ModelError('model_unavailable', text, wait);
  const unauthorized = status === 401 || status === 403 || (status === 400 && wrongKey.test(searched));
  if (unauthorized) return new ModelError('model_unauthorized', text, final);
  return new ModelError('model_refused', text, { ...final, refused });
};

/** An error that an endpoint reported in a response of status 200. `status`: what it says that the status is. */
export class ReportedError extends Error {
  readonly status: number | null;
  readonly body: string;
  readonly inStream: boolean;
  constructor(message: string, status: number | null, body: string, inStream: boolean) {
    super(message);
    this.status = status;
    this.body = body;
    this.inStream = inStream;
  }
}

const ofReported = ({ message, status, body, inStream }: ReportedError, redactor: Redactor): ModelError => {
  const refusal = { status: status ?? 400, message, searched: `${message} ${body}`, headers: undefined };
  const error = ofRefusal(refusal, redactor);
  if (status !== null || error.refused !== null || error.code !== 'model_refused') return error;
  const text = `The model endpoint returned an error: ${scrub(message, redactor)}`;
  return new ModelError(inStream ? 'model_unavailable' : 'model_answer_invalid', text, { retryable: true });
};

const brokenOff = () =>
  new ModelError('model_unavailable', 'The connection was lost in the middle of the reply.', {
    retryable: true,
  });

/** The reply ended, and the provider had not said that it was complete; or it is no reply at all. */
export const incomplete = ({ partial }: Watch): ModelError =>
  partial
    ? brokenOff()
    : new ModelError('model_answer_invalid', 'The model endpoint did not return a reply that can be read.', {
        retryable: true,
      });

/** The ModelError for what the SDK threw or reported; its message may be shown. */
export const toModelError = (error: unknown, watch: Watch, redactor: Redactor): ModelError => {
  if (watch.failure) return watch.failure;
  for (const cause of causes(error)) {
    if (cause instanceof ModelError) return cause;
    if (cause instanceof ReportedError) return ofReported(cause, redactor);
    if (cause instanceof EgressError) {
      return new ModelError('model_unavailable', `The model endpoint cannot be reached: ${cause.message}.`, {
        retryable: cause.kind !== 'denied',
      });
    }
  }
  const refusal = refusalOf(error);
  if (refusal) return ofRefusal(refusal, redactor);
  if (watch.cut) return brokenOff();
  if (APICallError.isInstance(error) && error.statusCode === undefined) {
    const code = [...causes(error)].map((cause) => (cause as { code?: unknown }).code).find(Boolean);
    const why = typeof code === 'string' ? ` (${code})` : '';
    return new ModelError('model_unavailable', `The model endpoint cannot be reached${why}.`, {
      retryable: true,
    });
  }
  return incomplete(watch);
};
