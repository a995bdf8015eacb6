import type { Duplex } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, badRequest, type ErrorCode, messageOf } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Logger } from '../lib/log.ts';
import { newTraceparent, parseTraceparent } from '../lib/traceparent.ts';
import { pathOf } from './addresses.ts';

/** A failure as the page of a route shows it. */
export interface ShownFailure {
  status: number;
  errorId: string;
  message: string;
  /** The fields next to the message in the error body. */
  context: Record<string, unknown>;
}

/** The object `error` of an error body. */
export interface PartFailure {
  error_id: string;
  code: ErrorCode;
  message: string;
  [field: string]: unknown;
}

/** The error body of description 7.2. */
const errorBody = (error: ApiError, errorId: string): { error: PartFailure } => ({
  error: { error_id: errorId, code: error.code, message: error.message, ...error.context },
});

/** The error that a client sees instead of `error`: nothing of SQL, stacks, paths or secrets. */
const toApiError = (error: unknown): ApiError => {
  if (error instanceof ApiError) return error;
  const { code, statusCode } = error as { code?: string; statusCode?: number };
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return badRequest('The Content-Type is not a media type.');
  if (typeof code === 'string' && code.startsWith('FST_ERR') && statusCode && statusCode < 500) {
    return badRequest('The request is not valid HTTP.');
  }
  return new ApiError(
    'internal_error',
    'Something went wrong on our side. Quote error_id when you report it.',
  );
};

/** A failed request, for the log. */
export interface FailedRequest {
  id: string;
  method: string;
  url: string;
}

export interface FailureResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** A page of a failure loads nothing, runs nothing, and its address goes nowhere: it may have a code in it. */
const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** Logs the error under a new `error_id`. */
const reportFailure = (
  log: Logger,
  error: unknown,
  request: FailedRequest,
): { shown: ApiError; errorId: string } => {
  const shown = toApiError(error);
  const errorId = newId();
  // At the default level: a client that quotes an error_id must be found in the logs.
  log[shown.status >= 500 ? 'error' : 'info'](
    {
      error_id: errorId,
      request_id: request.id,
      method: request.method,
      path: pathOf(request.url),
      status: shown.status,
      error: messageOf(error),
      ...(shown.code === 'internal_error' && error instanceof Error ? { stack: error.stack } : {}),
    },
    'request failed',
  );
  return { shown, errorId };
};

/** Returns the error of one part of a request that succeeds as a whole, and logs it under its `error_id`. */
export const toPartFailure = (log: Logger, error: unknown, request: FailedRequest): PartFailure => {
  const { shown, errorId } = reportFailure(log, error, request);
  return errorBody(shown, errorId).error;
};

/** Returns the error body with its status and headers, and logs the error under its `error_id`. */
export const toFailure = (
  log: Logger,
  error: unknown,
  request: FailedRequest,
  page?: (failure: ShownFailure) => string,
): FailureResponse => {
  const { shown, errorId } = reportFailure(log, error, request);
  return {
    status: shown.status,
    headers: {
      ...(shown.code === 'unauthorized' ? { 'www-authenticate': 'Bearer' } : {}),
      ...shown.headers,
      ...(page ? pageHeaders : { 'content-type': 'application/json; charset=utf-8' }),
    },
    body: page
      ? page({ status: shown.status, errorId, message: shown.message, context: shown.context })
      : JSON.stringify(errorBody(shown, errorId)),
  };
};

/** Sends the error body, or `page` to a client that does not name JSON in `Accept`. */
export const sendFailure = (
  log: Logger,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  page?: (failure: ShownFailure) => string,
): FastifyReply => {
  const wantsJson = request.headers.accept?.includes('application/json');
  const { status, headers, body } = toFailure(log, error, request, wantsJson ? undefined : page);
  // A request that is refused before its handler runs has no span.
  if (!reply.hasHeader('traceparent')) {
    reply.header('traceparent', newTraceparent(parseTraceparent(request.headers.traceparent)));
  }
  return reply.code(status).headers(headers).send(body);
};

/**
 * If a connection is closed while its client is still sending, it is reset and the response is lost (RFC 9112, 9.6). So
 * the body of a refused request is read to the end before the connection is closed, whether Fastify (for a body that is
 * too large) or the client asked for that. `requestTimeout` limits how long it may take.
 */
export const closeAfterBody = ({ raw: request }: FastifyRequest, reply: FastifyReply): void => {
  if (request.complete) return;
  const closes = !reply.raw.shouldKeepAlive;
  reply.removeHeader('connection');
  reply.raw.shouldKeepAlive = true;
  if (closes) request.once('end', () => request.socket.end());
};

const messagesByCode: Record<string, string> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive completely in time.',
  HPE_HEADER_OVERFLOW: 'The headers of the request, its address included, are too large.',
};

/**
 * The time for which a refused connection waits for the client to read the response and close its end, in milliseconds.
 */
const lingerMs = 5_000;

/**
 * Sends the last response on a connection whose request was not HTTP or not complete. `code` is that of Node's error.
 */
export const refuseConnection = (
  socket: Duplex,
  headers: Readonly<Record<string, string>>,
  code = '',
): void => {
  const message = messagesByCode[code] ?? 'The request is not valid HTTP.';
  const body = JSON.stringify(errorBody(badRequest(message), newId()));
  // Later errors do not matter. Without a listener they would end the process.
  socket.on('error', () => {});
  const lines = Object.entries({
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 400 Bad Request\r\n${lines.join('')}\r\n${body}`);
  setTimeout(() => socket.destroy(), lingerMs).unref();
};
