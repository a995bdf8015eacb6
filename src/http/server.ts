import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import type { Database } from '../database/index.ts';
import type { Vault } from '../lib/crypto.ts';
import { ApiError, badRequest } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Logger } from '../lib/log.ts';
import { anonymous, type Principal, roleAllows } from '../lib/principal.ts';
import { Semaphore } from '../lib/semaphore.ts';
import { newTraceparent, parseTraceparent } from '../lib/traceparent.ts';
import { type Base, baseOf, bases, hostsIn, normalizeUrl, pathOf } from './addresses.ts';
import { bodyLimit, RequestBodies } from './bodies.ts';
import { type CallerParts, createCallers } from './callers.ts';
import { closeAfterBody, refuseConnection, sendFailure, toFailure } from './failure.ts';
import { type ApiDocument, describeApi } from './openapi.ts';
import { mountRaw, type RawParts } from './raw.ts';
import { basesOf, type Route, type RouteGroup } from './route.ts';
import { serveRoute } from './serve.ts';

export interface ServerOptions extends CallerParts {
  /** What is served, and how the documents group it. */
  groups: readonly RouteGroup[];
  db: Database;
  vault: Vault;
  log: Logger;
  /** The address shown in the document; asked for once the server listens. */
  publicUrl: () => string;
  version: string;
  trustProxy?: string[];
  onRefused?: (principal: Principal, request: { operation: string; path: string; requestId: string }) => void;
  onResponse?: (request: { operation: string; method: string; status: number; seconds: number }) => void;
  /** Runs `fn` in a span of the request; `fn` is given the span's traceparent and resolves to the status. */
  trace?: (
    request: {
      method: string;
      route: string;
      /** As it came, without the query. */
      path: string;
      scheme: string;
      traceparent: string | undefined;
    },
    fn: (traceparent: string) => Promise<number>,
  ) => Promise<unknown>;
  /** Answers `/readyz`: null when ready, else why not. */
  readiness: () => Promise<string | null>;
  metrics: () => Promise<{ contentType: string; text: string }>;
}

export interface Server {
  /** Resolves with the port it listens on. */
  listen(port: number, host: string): Promise<number>;
  close(): Promise<void>;
  /** The OpenAPI document of a base. */
  document(base: Base): ApiDocument;
}

/**
 * A body beyond this may become ten times its size as an object, kept while its handler waits for the database:
 * few are parsed at a time, whatever comes in.
 */
const largeBody = { bytes: 1024 * 1024, atOnce: 2 };

/** At a stop a request may take so long; then it is cut off, so that a slow client holds nobody up. */
const closeWithinMs = 3_000;

const routerPath = (path: string): string => path.replace(/\{(\w+)\}/g, ':$1');
const pathPattern = (path: string): RegExp => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`);

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | null;
    response: ServerResponse | null;
  }
}

const requestIdOf = ({ headers }: IncomingMessage): string => {
  const given = headers['x-request-id'];
  return typeof given === 'string' && /^[\x21-\x7e]{1,128}$/.test(given) ? given : newId();
};

/** The HTTP side of the platform: routes in, a server out. It knows HTTP and no feature. */
export const createServer = (options: ServerOptions): Server => {
  const { log, groups, trace = (request, fn) => fn(newTraceparent(request.traceparent)) } = options;
  const routes = groups.flatMap((group) => group.routes ?? []);
  const rawRoutes = groups.flatMap((group) => group.rawRoutes ?? []);
  const largeBodies = new Semaphore(largeBody.atOnce);
  const documents = new Map<Base, ApiDocument>();
  const documentOf = (base: Base): ApiDocument => {
    let document = documents.get(base);
    if (!document) {
      document = describeApi({
        base,
        publicUrl: options.publicUrl(),
        version: options.version,
        groups,
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
    genReqId: requestIdOf,
    routerOptions: { maxParamLength: 10_000 },
    forceCloseConnections: 'idle',
    // What still comes on an open connection is answered like any other; Fastify's own 503 says not when to try again.
    return503OnClosing: false,
    requestTimeout: 60_000,
    http: { requireHostHeader: false },
    frameworkErrors: (error, request, reply) =>
      void sendFailure(log, error, request as FastifyRequest, reply as FastifyReply),
    clientErrorHandler(error, socket) {
      const { code } = error as NodeJS.ErrnoException;
      if (!socket.writable || code === 'ECONNRESET') socket.destroy();
      else refuseConnection(socket, code);
    },
  });
  // Node would close the one without a word and answer the other without a body.
  app.server.on('connect', (_request, socket) => refuseConnection(socket));
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.decorateRequest('principal', null);
  app.decorateRequest('response', null);
  app.removeAllContentTypeParsers();
  // The body is parsed after the 404s of what the path names, so here it is only read.
  const bodies = new RequestBodies();
  app.addContentTypeParser('*', (request: FastifyRequest, payload: IncomingMessage) =>
    bodies.read(payload, request.response!),
  );
  app.setErrorHandler((error, request, reply) => {
    closeAfterBody(request, reply);
    return sendFailure(log, error, request, reply);
  });

  const { principalOf, authenticate, limitRate } = createCallers(options);

  const refused = (request: FastifyRequest, route: Route): void => {
    const path = pathOf(request.url);
    options.onRefused?.(request.principal!, { operation: route.id, path, requestId: request.id });
  };

  const patterns = routes.flatMap((route) =>
    basesOf(route).map((base) => ({ pattern: pathPattern(base + route.path), method: route.method })),
  );
  /** 404, under a base only for whoever has a key, with the methods that the path has. */
  const refuseUnknown = async (request: FastifyRequest, reply: FastifyReply): Promise<never> => {
    const path = pathOf(request.url);
    const base = baseOf(path);
    if (base) limitRate(await authenticate(request), reply.header.bind(reply));
    const methods = patterns.filter((p) => p.pattern.test(path)).map((p) => p.method as string);
    if (path === base) methods.push('GET');
    throw new ApiError(
      'not_found',
      methods.length > 0
        ? `There is no ${request.method} here. The methods of this path are: ${[...new Set(methods)].join(', ')}.`
        : `There is nothing at this path.${base ? ` GET ${base} describes what there is.` : ''}`,
    );
  };

  app.addHook('onRequest', async (request, reply) => {
    request.response = reply.raw;
    reply.header('x-request-id', request.id);
    // Node would answer a request without Host without a body, and take one with several.
    const hosts = hostsIn(request.raw.rawHeaders);
    if (hosts > 1 || (hosts === 0 && request.raw.httpVersion === '1.1')) {
      throw badRequest('The request is not valid HTTP: it must have one header Host.');
    }
    // Here, before any body is read.
    if (request.is404) await refuseUnknown(request, reply);
  });
  const answered: RawParts['onResponse'] = ({ id, operation, method, status, ms }) => {
    options.onResponse?.({ operation, method, status, seconds: ms / 1000 });
    log.debug({ request_id: id, operation, status, ms: Math.round(ms) }, 'request');
  };
  app.addHook('onResponse', async (request, reply) => {
    const operation = (request.routeOptions.config as { operation?: string }).operation ?? 'none';
    const { method, id } = request;
    answered({ id, operation, method, status: reply.statusCode, ms: reply.elapsedTime });
  });

  for (const route of routes) {
    const { role } = route;
    for (const base of basesOf(route)) {
      app.route({
        method: route.method,
        url: routerPath(base + route.path),
        config: { operation: route.id },
        onRequest: async (request, reply) => {
          if (role === 'anyone') {
            request.principal = anonymous;
            return;
          }
          const principal = await authenticate(request);
          request.principal = principal;
          limitRate(principal, reply.header.bind(reply));
          if (roleAllows(principal.role, role)) return;
          refused(request, route);
          throw new ApiError(
            'forbidden',
            `This needs the role ${role}; the API key has the role ${principal.role}.`,
          );
        },
        handler: async (request, reply) => {
          const { method, originalUrl, protocol: scheme } = request;
          const path = pathOf(originalUrl);
          const traceparent = parseTraceparent(request.headers.traceparent);
          const traced = { method, route: base + route.path, path, scheme, traceparent };
          await trace(traced, async (own) => {
            reply.header('traceparent', own);
            try {
              const carryOut = () => serveRoute(route, request.principal!, options, request, reply);
              const size = (request.body as Buffer | undefined)?.length ?? 0;
              await (size > largeBody.bytes ? largeBodies.run(carryOut) : carryOut());
            } catch (error) {
              if (error instanceof ApiError && error.code === 'forbidden') refused(request, route);
              sendFailure(log, error, request, reply);
            }
            return reply.statusCode;
          });
          return reply;
        },
      });
    }
  }

  for (const base of bases) {
    app.get(base, async (_request, reply) =>
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
  let closing = false;
  mountRaw(app, rawRoutes, {
    authenticate,
    principalOf,
    limitRate,
    requestId: requestIdOf,
    failed: (error, request) => toFailure(log, error, request),
    onResponse: answered,
    closing: () => closing,
  });

  return {
    document: documentOf,
    listen: async (port, host) => {
      await app.listen({ port, host });
      return (app.server.address() as AddressInfo).port;
    },
    close: async () => {
      closing = true;
      const cut = setTimeout(() => app.server.closeAllConnections(), closeWithinMs);
      await app.close().finally(() => clearTimeout(cut));
    },
  };
};
