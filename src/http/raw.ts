import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Principal, Role } from '../lib/principal.ts';
import { parseTraceparent } from '../lib/traceparent.ts';
import { hostsIn } from './addresses.ts';
import type { FailedRequest, FailureResponse } from './failure.ts';

/** What answers requests that are no JSON API: it reads and writes as it likes (the telemetry receiver). */
export interface RawRoute {
  paths: readonly string[];
  /** Its operation in the documents of the public bases, POST at `path` below the base. */
  document: { path: string; id: string; role: Role; operation: Record<string, unknown> };
  /** Rejects only on a defect. */
  handler: (request: RawRequest) => Promise<RawResponse>;
}

export interface RawRequest {
  method: string;
  headers: IncomingMessage['headers'];
  body: IncomingMessage;
  /** Throws the ApiError (401 or 429) that the JSON API would answer. */
  authenticate: () => Promise<Principal>;
}

export interface RawResponse {
  status: number;
  headers?: Record<string, string>;
  body: string | Buffer;
}

type SetHeader = (name: string, value: string) => void;

/** What raw routes need of the server. */
export interface RawParts {
  /** Counts failures against the caller's address; throws 401 or 429. */
  authenticate: (request: FastifyRequest) => Promise<Principal>;
  /** Who the request's token or cookie stands for; throws 401. */
  principalOf: (headers: IncomingMessage['headers']) => Promise<Principal>;
  /** Takes the request from its principal's bucket; throws 429. */
  limitRate: (principal: Principal, setHeader: SetHeader) => void;
  requestId: (request: IncomingMessage) => string;
  failed: (error: unknown, request: FailedRequest) => FailureResponse;
  onResponse: (request: {
    id: string;
    operation: string;
    method: string;
    status: number;
    ms: number;
  }) => void;
  /** The server is being closed. */
  closing: () => boolean;
}

const operation = 'raw';

/** The trace that came. A request without one begins none: the telemetry path is not traced. */
const traced = (headers: IncomingMessage['headers']): { traceparent?: string } => {
  const traceparent = parseTraceparent(headers.traceparent);
  return traceparent === undefined ? {} : { traceparent };
};

/**
 * Raw routes answer before Fastify looks at the body: it would refuse a Content-Type that it cannot parse in
 * the shape of the JSON API's errors.
 */
const mountRouterPath = (app: FastifyInstance, rawRoutes: readonly RawRoute[], parts: RawParts): void => {
  for (const raw of rawRoutes) {
    const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const { status, headers, body } = await raw.handler({
        method: request.method,
        headers: request.headers,
        body: request.raw,
        authenticate: async () => {
          const principal = await parts.authenticate(request);
          parts.limitRate(principal, (name, value) => void reply.header(name, value));
          return principal;
        },
      });
      return reply
        .code(status)
        .headers({ ...traced(request.headers), ...headers })
        .send(body);
    };
    for (const path of raw.paths) app.all(path, { onRequest: answer, config: { operation } }, answer);
  }
};

/** Answers a request whose principal is known, as the long way would. */
const serveFastPath = async (
  raw: RawRoute,
  parts: RawParts,
  principal: Principal,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const start = performance.now();
  const id = parts.requestId(request);
  let answer: RawResponse;
  try {
    answer = await raw.handler({
      method: request.method!,
      headers: request.headers,
      body: request,
      authenticate: async () => {
        parts.limitRate(principal, (name, value) => void response.setHeader(name, value));
        return principal;
      },
    });
  } catch (error) {
    answer = parts.failed(error, { id, method: request.method!, url: request.url! });
  }
  const { status, headers, body } = answer;
  response.writeHead(status, {
    'x-request-id': id,
    ...traced(request.headers),
    ...headers,
    'content-length': Buffer.byteLength(body),
  });
  // An empty piece behind the headers would cost a write of two pieces.
  if (body.length === 0) response.end();
  else response.end(body);
  parts.onResponse({ id, operation, method: request.method!, status, ms: performance.now() - start });
};

/**
 * Mounts raw routes. What nearly all their requests are, a POST to a path as it is written with a valid key, goes
 * round Fastify, whose request, reply and hooks cost as much again as Node's part of it; whatever else comes takes
 * the long way, to be refused there.
 */
export const mountRaw = (app: FastifyInstance, rawRoutes: readonly RawRoute[], parts: RawParts): void => {
  mountRouterPath(app, rawRoutes, parts);
  const byPath = new Map(rawRoutes.flatMap((raw) => raw.paths.map((path) => [path, raw] as const)));
  const [routerPath] = app.server.listeners('request') as [(q: IncomingMessage, a: ServerResponse) => void];
  app.server.off('request', routerPath);
  app.server.on('request', (request, response) => {
    const raw = request.method === 'POST' ? byPath.get(request.url!) : undefined;
    if (raw === undefined || parts.closing() || hostsIn(request.rawHeaders) !== 1) {
      return routerPath(request, response);
    }
    parts.principalOf(request.headers).then(
      (principal) => serveFastPath(raw, parts, principal, request, response),
      // It authenticates anew, and counts the failure.
      () => routerPath(request, response),
    );
  });
};
