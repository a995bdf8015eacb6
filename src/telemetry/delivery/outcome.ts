import { encodingOf, partialSuccess, WireReader } from '@agent-platform/otlp';
import { Secret } from '../../lib/crypto.ts';
import { EgressError, type EgressResponse } from '../../lib/egress.ts';
import { retryAfterMs } from '../../lib/retry-after.ts';
import type { Destination } from '../routing.ts';

/** The outcome of a request to a backend. `error` can be shown to users. */
export type Outcome =
  | { kind: 'accepted'; rejected: number; error: string | null }
  /** Something in the request was refused: bisect until it is found. */
  | { kind: 'refused'; status: number; error: string }
  | { kind: 'too large'; status: number; error: string }
  | { kind: 'retry'; afterMs: number | null; error: string }
  /** The settings are wrong and not the data. */
  | { kind: 'pause'; error: string };

/** The outcome of a request with `spans` spans that got `response`. `now` in ms, for a Retry-After that is a date. */
export const outcomeOf = (
  destination: Destination,
  response: EgressResponse,
  spans: number,
  now: number,
): Outcome => {
  const { status, headers, body } = response;
  if (status >= 200 && status < 300) {
    const { rejected, message } = partialSuccess(headers['content-type'], body);
    const counted = Math.min(spans, Math.floor(rejected));
    if (counted === 0) return { kind: 'accepted', rejected: 0, error: null };
    const error = `the backend rejected ${counted} of ${spans} spans${quoted(destination, message)}`;
    return { kind: 'accepted', rejected: counted, error };
  }
  const error = `the backend responded with ${status}${quoted(destination, messageIn(headers['content-type'], body))}`;
  if (status === 400 || status === 422) return { kind: 'refused', status, error };
  if (status === 413) return { kind: 'too large', status, error };
  if (status === 429 || status === 408 || status >= 500) {
    return { kind: 'retry', afterMs: retryAfterMs(headers['retry-after'], now), error };
  }
  if (status >= 300 && status < 400) {
    return { kind: 'pause', error: `the backend responded with ${status}: redirects are not followed` };
  }
  return { kind: 'pause', error };
};

/**
 * The outcome of a request without a response: wrong certificates and forbidden addresses need a change by a person.
 */
export const outcomeOfFailure = (failure: unknown): Outcome => {
  if (!(failure instanceof EgressError)) throw failure;
  return failure.kind === 'tls' || failure.kind === 'denied'
    ? { kind: 'pause', error: failure.message }
    : { kind: 'retry', afterMs: null, error: failure.message };
};

const longestMessage = 200;

/** The message of an error response: google.rpc.Status, JSON with a message, or plain text. */
const messageIn = (contentType: string | undefined, body: Buffer): string => {
  if (body.length === 0) return '';
  if (encodingOf(contentType) === 'protobuf') {
    const r = new WireReader(body);
    while (r.at < body.length) {
      const tag = r.tag(body.length);
      if (tag === 18) {
        const end = r.fieldEnd(body.length);
        return r.bad ? '' : body.toString('utf8', r.at, end);
      }
      r.skipField(tag, body.length);
    }
    return '';
  }
  const text = body.toString('utf8', 0, 4_096);
  if (encodingOf(contentType) !== 'json') return /^\s*</.test(text) ? '' : text;
  try {
    const parsed = JSON.parse(text);
    return String(parsed?.message ?? parsed?.error?.message ?? parsed?.error ?? '');
  } catch {
    return '';
  }
};

/**
 * A backend's message after a colon, on one line, shortened. It is withheld as a whole if it repeats any part of what
 * was sent to authenticate, however it is escaped: backends do echo requests.
 */
const quoted = (destination: Destination, message: string): string => {
  const text = message
    .replace(/[\s\p{C}]+/gu, ' ')
    .trim()
    .slice(0, longestMessage);
  if (text === '') return '';
  const readings = [
    text,
    unescaped(text, /%[0-9a-f]{2}/gi, 1),
    unescaped(text, /\\u[0-9a-f]{4}/gi, 2),
    text.replaceAll('\\', ''),
  ];
  const repeats = secretsOf(destination).some((secret) =>
    readings.some((reading) => sharesPart(reading, secret)),
  );
  return repeats ? ' (its message repeats credentials and is not shown)' : `: ${text}`;
};

const unescaped = (text: string, pattern: RegExp, digitsAt: number): string =>
  text.replace(pattern, (one) => String.fromCharCode(Number.parseInt(one.slice(digitsAt), 16)));

/** Number of characters of a secret in a row that is not a coincidence. */
const sharedLength = 8;

const sharesPart = (text: string, secret: string): boolean => {
  for (let i = 0; i === 0 || i + sharedLength <= secret.length; i++) {
    if (text.includes(secret.slice(i, i + sharedLength))) return true;
  }
  return false;
};

const secretsOf = (destination: Destination): string[] => {
  const secrets = new Set<string>();
  for (const [, value] of destination.headers) {
    if (!(value instanceof Secret)) continue;
    const plain = value.reveal();
    secrets.add(plain);
    const [scheme, credentials] = plain.split(' ');
    if (credentials === undefined) continue;
    secrets.add(credentials);
    if (scheme?.toLowerCase() !== 'basic') continue;
    const pair = Buffer.from(credentials, 'base64').toString();
    secrets.add(pair).add(pair.slice(pair.indexOf(':') + 1));
  }
  if (URL.canParse(destination.url)) {
    for (const value of new URL(destination.url).searchParams.values()) secrets.add(value);
  }
  return [...secrets].filter((secret) => secret !== '');
};
