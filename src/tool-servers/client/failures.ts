import {
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { EgressError } from '../../lib/egress.ts';
import { messageOf } from '../../lib/errors.ts';
import { showPath } from '../../lib/text.ts';

/** The steps of reaching a server; a failure names the one that failed. */
export type ConnectionStep = 'resolve' | 'proxy' | 'connect' | 'authenticate' | 'negotiate' | 'list_tools';

/** A server cannot be used. `message` is a sentence without secrets and without its url. */
export class ConnectionFailure extends Error {
  readonly step: ConnectionStep;
  constructor(step: ConnectionStep, message: string) {
    super(message);
    this.name = 'ConnectionFailure';
    this.step = step;
  }
}

/** The authorization server did not give a token. */
export class TokenFailure extends Error {}

/** The body of a response has more bytes than are accepted. */
export class ResponseTooLarge extends Error {}

/** The local process of a server does not run. Nothing was sent. */
export class ProcessFailure extends Error {}

/** Returns the first error of the chain of causes that `find` accepts. */
const inChain = <T>(error: unknown, find: (error: unknown) => T | undefined): T | undefined => {
  let at = error;
  for (let depth = 0; at !== undefined && at !== null && depth < 8; depth++) {
    const found = find(at);
    if (found !== undefined) return found;
    at = (at as { cause?: unknown }).cause;
  }
  return undefined;
};

const instance =
  <T>(type: abstract new (...args: never[]) => T) =>
  (error: unknown): T | undefined =>
    error instanceof type ? error : undefined;

export const egressErrorOf = (error: unknown) => inChain(error, instance(EgressError));
export const tooLargeOf = (error: unknown) => inChain(error, instance(ResponseTooLarge));

/** The HTTP status by which a server refused; undefined for every other failure. */
export const statusOf = (error: unknown): number | undefined => {
  const http = inChain(error, (at) => (SdkHttpError.isInstance(at) ? at : undefined));
  if (http) return http.data.status;
  return inChain(error, (at) => (UnauthorizedError.isInstance(at) ? 401 : undefined));
};

/** Returns the reason that a server gives for an HTTP refusal in an error of JSON-RPC; null if it gives none. */
export const reasonOf = (error: unknown): string | null => {
  const http = inChain(error, (at) => (SdkHttpError.isInstance(at) ? at : undefined));
  try {
    const { message } = JSON.parse(String(http?.data.text)).error;
    return typeof message === 'string' && message !== '' ? shortened(message) : null;
  } catch {
    return null;
  }
};

export const protocolErrorOf = (error: unknown): ProtocolError | undefined =>
  inChain(error, (at) => (ProtocolError.isInstance(at) ? at : undefined));

export const sdkCodeOf = (error: unknown): SdkErrorCode | undefined =>
  inChain(error, (at) => (SdkError.isInstance(at) ? at.code : undefined));

/** One line of text from elsewhere, as a message shows it. */
export const shortened = (text: string, most = 200): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > most ? `${line.slice(0, most)}…` : line;
};

const refusedStatuses: Record<number, string> = {
  401: 'The server refuses the credentials (HTTP 401).',
  403: 'The server denies access (HTTP 403).',
};

/** Returns the place where a result breaks its schema: the message of the client library says it. */
const invalidPart = (error: unknown): string => {
  const message = messageOf(inChain(error, (at) => (SdkError.isInstance(at) ? at : undefined)));
  try {
    const [issue] = JSON.parse(message.slice(message.indexOf('['))) as {
      path: (string | number)[];
      message: string;
    }[];
    return shortened(`: ${showPath(issue!.path, 'result')}: ${issue!.message}`);
  } catch {
    return '';
  }
};

const wantsLoginText =
  'The server wants a login (HTTP 401). Give it client credentials (`oauth`) or a header `Authorization` that it accepts. The platform cannot log in as a person in a browser.';

/**
 * Says why a server cannot be used. `phase` is what was going on; `wantsLogin`: the server named, with a 401, where people
 * log in (RFC 9728).
 */
export const connectionFailureOf = (
  error: unknown,
  phase: 'negotiate' | 'list_tools',
  wantsLogin = false,
): ConnectionFailure => {
  const known = inChain(error, instance(ConnectionFailure));
  if (known) return known;
  const token = inChain(error, instance(TokenFailure));
  if (token) return new ConnectionFailure('authenticate', token.message);
  const status = statusOf(error);
  if (status === 401 && wantsLogin) return new ConnectionFailure('authenticate', wantsLoginText);
  if (status === 401 || status === 403)
    return new ConnectionFailure('authenticate', refusedStatuses[status]!);
  if (status !== undefined) {
    const redirect = status >= 300 && status < 400 ? ', a redirect to another address' : '';
    const reason = reasonOf(error);
    const why = reason === null ? '.' : `: ${reason}`;
    return new ConnectionFailure(phase, `The server returned HTTP ${status}${redirect}${why}`);
  }
  const egress = egressErrorOf(error);
  if (egress) {
    const steps = {
      denied: 'resolve',
      dns: 'resolve',
      proxy: 'proxy',
      connect: 'connect',
      tls: 'connect',
    } as const;
    const step = egress.kind in steps ? steps[egress.kind as keyof typeof steps] : phase;
    return new ConnectionFailure(step, `${egress.message[0]!.toUpperCase()}${egress.message.slice(1)}.`);
  }
  const processFailure = inChain(error, instance(ProcessFailure));
  if (processFailure) return new ConnectionFailure('connect', processFailure.message);
  if (tooLargeOf(error)) return new ConnectionFailure(phase, 'The response of the server is too large.');
  const refusal = protocolErrorOf(error);
  if (refusal) {
    return new ConnectionFailure(
      phase,
      `The server refused: ${shortened(refusal.message)} (${refusal.code}).`,
    );
  }
  switch (sdkCodeOf(error)) {
    case SdkErrorCode.RequestTimeout:
      return new ConnectionFailure(phase, 'The server did not respond in time.');
    case SdkErrorCode.ConnectionClosed:
      return new ConnectionFailure(phase, 'The connection was closed.');
    case SdkErrorCode.InvalidResult:
      return new ConnectionFailure(phase, `The response of the server is not valid${invalidPart(error)}.`);
    case SdkErrorCode.ListPaginationExceeded:
      return new ConnectionFailure(phase, 'The list of tools has too many pages.');
    default:
      return new ConnectionFailure(phase, 'The response is not that of a Model Context Protocol server.');
  }
};
