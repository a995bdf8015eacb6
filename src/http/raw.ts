import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from '../lib/log.ts';
import type { Principal, Role, Scope } from '../lib/principal.ts';
import { parseTraceparent } from '../lib/traceparent.ts';
import { hostsIn, requestIdOf } from './addresses.ts';
import type { Callers } from './callers.ts';
import { toFailure } from './failure.ts';
import { checkPermission } from './permissions.ts';

/** A route that is not a JSON API: it reads and writes bodies itself (the telemetry receiver). */
export interface RawRoute {
  paths: readonly string[];
  /** Its operation in the documents of the public bases: POST at `path` below the base. */
  document: { path: string; id: string; role: Role; scope: Scope; operation: Record<string, unknown> };
  /** Rejects only because of a defect. */
  handler: (request: RawRequest) => Promise<RawResponse>;
}

export interface RawRequest {
  method: string;
  headers: IncomingMessage['headers'];
  body: IncomingMessage;
  /** Throws the ApiError (401, 403 or 429) that the JSON API would send. */
  authenticate: () => Promise<Principal>;
}

export interface RawResponse {
  status: number;
  headers?: Record<string, string>;
  body: string | Buffer;
}

export interface RawParts extends Callers {
  log: Logger;
  onResponse: (request: {
    id: string;
    operation: string;
    method: string;
    status: number;
    ms: number;
  }) => void;
  closing: () => boolean;
  /** The headers of every response. */
  headers: () => Readonly<Record<string, string>>;
}

const operation = 'raw';

/** Counts the request of an authenticated caller; throws 403 without the permission of the route, or 429. */
const admit = (
  { document }: RawRoute,
  parts: RawParts,
  principal: Principal,
  setHeader: (name: string, value: string) => void,
): Principal => {
  parts.limitRate(principal, setHeader);
  checkPermission(document, principal);
  return principal;
};

/** The traceparent of the request, if it has one. Without one no trace begins: the telemetry path is not traced. */
const traceHeaders = (headers: IncomingMessage['headers']): { traceparent?: string } => {
  const traceparent = parseTraceparent(headers.traceparent);
  return traceparent === undefined ? {} : { traceparent };
};

/**
 * The router path: mounts raw routes in Fastify. They run in the hook `onRequest`, before Fastify looks at the body: it
 * would refuse a Content-Type that it cannot parse with an error body of the JSON API.
 */
const mountRouterPath = (app: FastifyInstance, rawRoutes: readonly RawRoute[], parts: RawParts): void => {
  for (const raw of rawRoutes) {
    const respond = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const { status, headers, body } = await raw.handler({
        method: request.method,
        headers: request.headers,
        body: request.raw,
        authenticate: async () =>
          admit(raw, parts, await parts.authenticate(request, false), reply.header.bind(reply)),
      });
      return reply
        .code(status)
        .headers({ ...traceHeaders(request.headers), ...headers })
        .send(body);
    };
    for (const path of raw.paths) app.all(path, { onRequest: respond, config: { operation } }, respond);
  }
};

/** The fast path: serves a request whose principal is known, with the same response as the router path. */
const serveFastPath = async (
  raw: RawRoute,
  parts: RawParts,
  principal: Principal,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const start = performance.now();
  const id = requestIdOf(request);
  const method = request.method!;
  let result: RawResponse;
  try {
    result = await raw.handler({
      method,
      headers: request.headers,
      body: request,
      authenticate: async () =>
        admit(raw, parts, principal, (name, value) => void response.setHeader(name, value)),
    });
  } catch (error) {
    result = toFailure(parts.log, error, { id, method, url: request.url! });
  }
  const { status, headers, body } = result;
  response.writeHead(status, {
    'x-request-id': id,
    ...parts.headers(),
    ...traceHeaders(request.headers),
    ...headers,
    'content-length': Buffer.byteLength(body),
  });
  // An empty chunk after the headers would cost a write of two chunks.
  if (body.length === 0) response.end();
  else response.end(body);
  parts.onResponse({ id, operation, method, status, ms: performance.now() - start });
};

/**
 * Mounts raw routes. Nearly all their requests are a POST to a path exactly as it is listed, with a valid key. These
 * bypass Fastify, whose request, reply and hooks cost as much again as Node's part of a request. All others take the
 * router path, which refuses what is wrong.
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
    parts.principalOf(request).then(
      (principal) => serveFastPath(raw, parts, principal, request, response),
      // The router path authenticates again, and counts the failure.
      () => routerPath(request, response),
    );
  });
};
