import type { Duplex } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, badRequest, messageOf } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Logger } from '../lib/log.ts';
import { newTraceparent, parseTraceparent } from '../lib/traceparent.ts';
import { pathOf } from './addresses.ts';

/** The body of description 7.2. */
const errorBody = (error: ApiError, errorId: string) => ({
  error: { error_id: errorId, code: error.code, message: error.message, ...error.context },
});

/** What a client sees of whatever was thrown: nothing of SQL, stacks, paths or secrets. */
const toApiError = (error: unknown): ApiError => {
  if (error instanceof ApiError) return error;
  const { code, statusCode } = error as { code?: string; statusCode?: number };
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return badRequest('The Content-Type is no media type.');
  if (typeof code === 'string' && code.startsWith('FST_ERR') && statusCode && statusCode < 500) {
    return badRequest('The request is not valid HTTP.');
  }
  return new ApiError(
    'internal_error',
    'Something went wrong on our side. Quote error_id when you report it.',
  );
};

/** What the log tells of a request that failed. */
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

/** The error body with its status and headers; logs the error under its `error_id`. */
export const toFailure = (log: Logger, error: unknown, request: FailedRequest): FailureResponse => {
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
  return {
    status: shown.status,
    headers: {
      ...(shown.code === 'unauthorized' ? { 'www-authenticate': 'Bearer' } : {}),
      ...shown.headers,
      'content-type': 'application/json; charset=utf-8',
    },
    body: JSON.stringify(errorBody(shown, errorId)),
  };
};

/** Answers with the error body. */
export const sendFailure = (
  log: Logger,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply => {
  const { status, headers, body } = toFailure(log, error, request);
  // What is refused before its handler has no span.
  if (!reply.hasHeader('traceparent')) {
    reply.header('traceparent', newTraceparent(parseTraceparent(request.headers.traceparent)));
  }
  return reply.code(status).headers(headers).send(body);
};

/**
 * A connection that is closed while its client is still sending breaks off, and the answer is lost (RFC 9112, 9.6).
 * So what is refused before its body was read is read to the end, whoever wants the connection closed: Fastify where
 * a body is too large, or the client. `requestTimeout` bounds how long that may take.
 */
export const closeAfterBody = ({ raw: request }: FastifyRequest, reply: FastifyReply): void => {
  if (request.complete) return;
  const closes = !reply.raw.shouldKeepAlive;
  reply.removeHeader('connection');
  reply.raw.shouldKeepAlive = true;
  if (closes) request.once('end', () => request.socket.end());
};

const faultsOfHttp: Record<string, string> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive whole in time.',
  HPE_HEADER_OVERFLOW: 'The headers of the request, its address included, are too large.',
};

/** A client reads the answer within this; its end of a refused connection is not waited for longer. */
const lingerMs = 5_000;

/** The last answer on a connection whose request was not even HTTP, or not whole; `code` is that of Node's error. */
export const refuseConnection = (socket: Duplex, code = ''): void => {
  const message = faultsOfHttp[code] ?? 'The request is not valid HTTP.';
  const body = JSON.stringify(errorBody(badRequest(message), newId()));
  // What happens to it from here on concerns nobody; without a listener it would end the process.
  socket.on('error', () => {});
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
  setTimeout(() => socket.destroy(), lingerMs).unref();
};
