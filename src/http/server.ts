import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { Database } from '../database/index.ts';
import type { Vault } from '../lib/crypto.ts';
import { ApiError, badRequest, messageOf } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Logger } from '../lib/log.ts';
import { type Principal, type Role, roleAllows } from '../lib/principal.ts';
import { type Base, baseOf, bearerToken, normalizeUrl, oneHeader, traceparentPattern } from './addresses.ts';
import { checkIfMatch, etagOf } from './etag.ts';
import { AnsweredBefore, checkIdempotencyKey, once, requestHash, type StoredAnswer } from './idempotency.ts';
import { type ApiDocument, describeApi } from './openapi.ts';
import type { TokenBuckets } from './rate-limit.ts';
import type { Context, Route } from './route.ts';
import { readJson, validate } from './validate.ts';

/** What answers a request that is no JSON API: it reads and writes as it likes (the telemetry receiver). */
export interface RawRoute {
  paths: readonly string[];
  handler: (request: RawRequest) => Promise<RawAnswer>;
}

export interface RawRequest {
  method: string;
  headers: Record<string, string | string[] | undefined>;
  body: NodeJS.ReadableStream;
  /** Throws the 401 or 429 that the JSON API would answer. */
  authenticate: () => Promise<Principal>;
}

export interface RawAnswer {
  status: number;
  headers?: Record<string, string>;
  body: string | Buffer;
}

/** A span around one request. `run` makes it the parent of what happens inside. */
export interface RequestSpan {
  traceparent: string;
  run<T>(fn: () => Promise<T>): Promise<T>;
  end(status: number): void;
}

export interface ServerOptions {
  routes: readonly Route[];
  rawRoutes?: readonly RawRoute[];
  /** The role that an operation needs. */
  roleOf: (operationId: string) => Role;
  /** Who the bearer token (undefined: none was sent) or the cookie stands for; throws 401. */
  authenticate: (request: { token: string | undefined; cookie: string | undefined }) => Promise<Principal>;
  db: Database;
  vault: Vault;
  log: Logger;
  /** Address shown in the document. */
  publicUrl: string;
  version: string;
  trustProxy?: string[];
  buckets: TokenBuckets;
  /** Requests per second and burst for one principal; 0 a second switches the limit off. */
  rateLimit: () => { perSecond: number; burst: number };
  onRefused?: (principal: Principal, request: { operation: string; path: string; requestId: string }) => void;
  onAnswered?: (request: { operation: string; method: string; status: number; seconds: number }) => void;
  startSpan?: (request: { method: string; route: string; traceparent: string | undefined }) => RequestSpan;
  /** Answers `/readyz`: null when ready, else why not. */
  readiness: () => Promise<string | null>;
  metrics: () => Promise<{ contentType: string; text: string }>;
}

export interface Server {
  /** Resolves with the port it listens on. */
  listen(port: number, host: string): Promise<number>;
  close(): Promise<void>;
  document(base: Base): ApiDocument;
}

/** The largest body that is read, in bytes. */
const bodyLimit = 10 * 1024 * 1024;

/** Failed authentications of one address before it is told to wait, and how many a second after that. */
const failures = { burst: 200, perSecond: 10 };

const withoutKey: Record<string, Base> = {
  '/api/v2': '/api/v2',
  '/api/v1': '/api/v1',
  '/app/api': '/app/api',
};

const fullPath = (base: Base, path: string): string => base + path;
const fastifyPath = (path: string): string => path.replace(/\{(\w+)\}/g, ':$1');
const pathPattern = (path: string): RegExp => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`);

export const routeBases = (route: Route): readonly Base[] => {
  if (route.base === 'app') return ['/app/api'];
  return route.base === 'v2' ? ['/api/v2'] : ['/api/v2', '/api/v1'];
};

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | null;
    span: RequestSpan | null;
  }
}

/** The HTTP side of the platform: routes in, a server out. It knows HTTP and no feature. */
export const createServer = (options: ServerOptions): Server => {
  const { log, routes } = options;
  const documents = new Map<Base, ApiDocument>();
  const documentOf = (base: Base): ApiDocument => {
    let document = documents.get(base);
    if (!document) {
      document = describeApi({
        ...options,
        base,
        routes: routes.filter((r) => routeBases(r).includes(base)),
      });
      documents.set(base, document);
    }
    return document;
  };

  const app = Fastify({
    logger: false,
    bodyLimit,
    trustProxy: options.trustProxy?.length ? options.trustProxy : false,
    rewriteUrl: (request) => normalizeUrl(request.url ?? '/'),
    genReqId: (request) => {
      const given = request.headers['x-request-id'];
      return typeof given === 'string' && /^[\x21-\x7e]{1,128}$/.test(given) ? given : newId();
    },
    routerOptions: { maxParamLength: 10_000 },
    forceCloseConnections: 'idle',
    requestTimeout: 60_000,
    frameworkErrors: (error, request, reply) =>
      void fail(error, request as FastifyRequest, reply as FastifyReply),
    clientErrorHandler(error, socket) {
      if (!socket.writable || (error as NodeJS.ErrnoException).code === 'ECONNRESET') return socket.destroy();
      const body = JSON.stringify(
        errorBody(badRequest('The request is not valid HTTP, or its headers are too large.'), newId()),
      );
      socket.end(
        `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
      );
    },
  });
  app.decorateRequest('principal', null);
  app.decorateRequest('span', null);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

  const fail = (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const shown = toApiError(error);
    const errorId = newId();
    const level = shown.status >= 500 ? 'error' : 'debug';
    log[level](
      {
        error_id: errorId,
        request_id: request.id,
        method: request.method,
        path: request.url.split('?')[0],
        status: shown.status,
        error: messageOf(error),
        ...(shown.code === 'internal_error' && error instanceof Error ? { stack: error.stack } : {}),
      },
      'request failed',
    );
    return reply
      .code(shown.status)
      .headers(shown.headers)
      .header('content-type', 'application/json; charset=utf-8')
      .send(JSON.stringify(errorBody(shown, errorId)));
  };
  app.setErrorHandler((error, request, reply) => fail(error, request, reply));

  const authenticate = async (request: FastifyRequest): Promise<Principal> => {
    try {
      return await options.authenticate({
        token: bearerToken(request.headers.authorization),
        cookie: request.headers.cookie,
      });
    } catch (error) {
      // Only failures count, so a valid key is never refused because of others behind the same address.
      if (!(error instanceof ApiError) || error.code !== 'unauthorized') throw error;
      const { allowed, retryAfter } = options.buckets.take(
        `address ${request.ip}`,
        failures.perSecond,
        failures.burst,
      );
      if (allowed) throw error;
      throw new ApiError(
        'too_many_requests',
        'Too many requests without a valid API key came from this address. Wait and try again.',
        {},
        { 'retry-after': String(retryAfter) },
      );
    }
  };

  const limitRate = (principal: Principal, reply: FastifyReply): void => {
    const { perSecond, burst } = options.rateLimit();
    if (perSecond <= 0) return;
    const most = Math.max(burst, 1);
    const { allowed, remaining, retryAfter } = options.buckets.take(
      `principal ${principal.keyId ?? principal.id}`,
      perSecond,
      most,
    );
    reply.header('ratelimit-policy', `"default";q=${most};w=${Math.max(1, Math.ceil(most / perSecond))}`);
    reply.header('ratelimit', `"default";r=${remaining};t=${retryAfter}`);
    if (!allowed) {
      throw new ApiError(
        'too_many_requests',
        `The limit of ${perSecond} requests a second for one API key is reached. Try again in ${retryAfter} s.`,
        {},
        { 'retry-after': String(retryAfter) },
      );
    }
  };

  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    const given = request.headers.traceparent;
    const traceparent = typeof given === 'string' && traceparentPattern.test(given) ? given : undefined;
    const pattern = request.routeOptions.url;
    if (options.startSpan && pattern && baseOf(pattern)) {
      request.span = options.startSpan({ method: request.method, route: pattern, traceparent });
      reply.header('traceparent', request.span.traceparent);
    } else if (traceparent) reply.header('traceparent', traceparent);
  });

  app.addHook('onResponse', async (request, reply) => {
    request.span?.end(reply.statusCode);
    const operation = (request.routeOptions.config as { operation?: string }).operation ?? 'none';
    const seconds = reply.elapsedTime / 1000;
    options.onAnswered?.({ operation, method: request.method, status: reply.statusCode, seconds });
    log.debug(
      { request_id: request.id, operation, status: reply.statusCode, ms: Math.round(reply.elapsedTime) },
      'request',
    );
  });

  const serve = async (route: Route, request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const principal = request.principal!;
    const params = request.params as Record<string, string>;
    const found = await route.find?.({ params, principal });
    const { headers } = request;
    const raw = route.body
      ? readJson(request.body as Buffer | undefined, headers['content-type'], headers['content-encoding'])
      : undefined;
    const query = route.query ? validate(route.query, { ...(request.query as object) }, 'query') : undefined;
    const body = await readBody(route, raw);
    const ifMatch = oneHeader(headers['if-match'], 'If-Match');
    const key = route.idempotent ? oneHeader(headers['idempotency-key'], 'Idempotency-Key') : undefined;
    if (key !== undefined) checkIdempotencyKey(key);
    let etag: string | null = null;
    const context: Context = {
      principal,
      params,
      query,
      body,
      found,
      requestId: request.id,
      ifMatch: (revision) => checkIfMatch(ifMatch, revision),
      etag: (revision) => {
        etag = etagOf(revision);
      },
      change: (fn) =>
        options.db.tx((tx) =>
          key === undefined
            ? fn(tx)
            : once(
                tx,
                options.vault,
                { principalId: principal.id, key, hash: requestHash(route.id, params, raw) },
                () => fn(tx),
                (answer): StoredAnswer => ({ body: answer, etag }),
              ),
        ),
    };
    let result: unknown;
    try {
      result = await route.handler(context);
    } catch (error) {
      if (!(error instanceof AnsweredBefore)) throw error;
      result = error.answer.body;
      etag = error.answer.etag;
      reply.header('idempotency-replayed', 'true');
    }
    if (etag) reply.header('etag', etag);
    reply.code(route.status ?? 200);
    if (route.status === 204) return reply.send();
    reply.header('content-type', 'application/json; charset=utf-8');
    // What is not declared does not leave the house.
    return reply.send(JSON.stringify(route.answer!.parse(result)));
  };

  for (const route of routes) {
    const role = options.roleOf(route.id);
    for (const base of routeBases(route)) {
      app.route({
        method: route.method,
        url: fastifyPath(fullPath(base, route.path)),
        config: { operation: route.id },
        onRequest: async (request, reply) => {
          const principal = await authenticate(request);
          request.principal = principal;
          limitRate(principal, reply);
          if (!roleAllows(principal.role, role)) {
            options.onRefused?.(principal, {
              operation: route.id,
              path: request.url.split('?')[0]!,
              requestId: request.id,
            });
            throw new ApiError(
              'forbidden',
              `This needs the role ${role}; the API key has the role ${principal.role}.`,
            );
          }
        },
        handler: (request, reply) =>
          request.span ? request.span.run(() => serve(route, request, reply)) : serve(route, request, reply),
      });
    }
  }

  for (const [path, base] of Object.entries(withoutKey)) {
    app.get(path, async (_request, reply) =>
      reply.header('content-type', 'application/json; charset=utf-8').send(documentOf(base).text),
    );
  }
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async () => {
    const reason = await options.readiness();
    if (reason === null) return { status: 'ready' };
    throw new ApiError('service_unavailable', `Not ready: ${reason}.`, {}, { 'retry-after': '2' });
  });
  app.get('/metrics', async (_request, reply) => {
    const { contentType, text } = await options.metrics();
    return reply.header('content-type', contentType).send(text);
  });
  mountRaw(app, options.rawRoutes ?? [], authenticate);

  const patterns = routes.flatMap((route) =>
    routeBases(route).map((base) => ({
      pattern: pathPattern(fullPath(base, route.path)),
      method: route.method,
    })),
  );
  app.setNotFoundHandler(async (request) => {
    const path = request.url.split('?')[0]!;
    const base = baseOf(path);
    if (base) await authenticate(request);
    const methods = patterns.filter((p) => p.pattern.test(path)).map((p) => p.method);
    if (path === base) methods.push('GET');
    throw new ApiError(
      'not_found',
      methods.length > 0
        ? `There is no ${request.method} here. The methods of this path are: ${[...new Set(methods)].join(', ')}.`
        : `There is nothing at this path.${base ? ` GET ${base} describes what there is.` : ''}`,
    );
  });

  return {
    document: documentOf,
    listen: async (port, host) => {
      for (const base of Object.values(withoutKey)) documentOf(base);
      await app.listen({ port, host });
      return (app.server.address() as AddressInfo).port;
    },
    close: () => app.close(),
  };
};

const readBody = async (route: Route, raw: unknown): Promise<unknown> => {
  if (!route.body) return undefined;
  if (raw === undefined && !route.bodyOptional) {
    throw badRequest('A JSON body is required, with Content-Type: application/json.');
  }
  const value = raw === undefined ? {} : raw;
  if (route.checkBody && value !== null && typeof value === 'object' && !Array.isArray(value)) {
    await route.checkBody(value as Record<string, unknown>);
  }
  return validate(route.body as z.ZodType, value, 'body', route.badRequestFields);
};

const errorBody = (error: ApiError, errorId: string) => ({
  error: { error_id: errorId, code: error.code, message: error.message, ...error.context },
});

const toApiError = (error: unknown): ApiError => {
  if (error instanceof ApiError) {
    if (error.code === 'unauthorized' && !error.headers['www-authenticate']) {
      return new ApiError(error.code, error.message, error.context, {
        ...error.headers,
        'www-authenticate': 'Bearer',
      });
    }
    return error;
  }
  const { code, statusCode } = error as { code?: string; statusCode?: number };
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return badRequest(`The body is larger than ${bodyLimit.toLocaleString('en')} bytes.`);
  }
  if (typeof code === 'string' && code.startsWith('FST_ERR') && statusCode && statusCode < 500) {
    return badRequest('The request is not valid HTTP.');
  }
  return new ApiError(
    'internal_error',
    'Something went wrong on our side. Quote error_id when you report it.',
  );
};

/** Raw routes live in a scope of their own, where a body is a stream. */
const mountRaw = (
  app: FastifyInstance,
  rawRoutes: readonly RawRoute[],
  authenticate: (request: FastifyRequest) => Promise<Principal>,
): void => {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
    for (const raw of rawRoutes) {
      for (const path of raw.paths) {
        scope.all(
          path,
          { bodyLimit: Number.MAX_SAFE_INTEGER, config: { operation: 'raw' } },
          async (request, reply) => {
            const answer = await raw.handler({
              method: request.method,
              headers: request.headers,
              body: (request.body as NodeJS.ReadableStream | undefined) ?? request.raw,
              authenticate: () => authenticate(request),
            });
            return reply
              .code(answer.status)
              .headers(answer.headers ?? {})
              .send(answer.body);
          },
        );
      }
    }
  });
};
