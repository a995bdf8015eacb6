import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../lib/errors.ts';
import { anonymous, roleAllows } from '../lib/principal.ts';
import { Semaphore } from '../lib/semaphore.ts';
import { newTraceparent, parseTraceparent } from '../lib/traceparent.ts';
import { type Base, baseOf, pathOf } from './addresses.ts';
import type { Callers } from './callers.ts';
import { sendFailure } from './failure.ts';
import { basesOf, type Route } from './route.ts';
import { serveRoute } from './serve.ts';
import type { ServerOptions } from './server.ts';

/**
 * A body larger than this may become ten times its size as an object, kept while its handler waits for the database:
 * only few are parsed at a time, however many arrive.
 */
const largeBody = { bytes: 1024 * 1024, atOnce: 2 };

const routerPath = (path: string): string => path.replace(/\{(\w+)\}/g, ':$1');
const pathPattern = (path: string): RegExp => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`);

const reportRefusal = (options: ServerOptions, request: FastifyRequest, route: Route): void => {
  const actor = { principal: request.principal!, requestId: request.id };
  options.onRefused?.(actor, { operation: route.id, path: pathOf(request.url) });
};

/** Authenticates the caller and counts the request. Throws 401, 403 or 429. */
const admit = async (
  route: Route,
  callers: Callers,
  options: ServerOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> => {
  if (route.role === 'anyone') {
    callers.limitAddress(request);
    request.principal = anonymous;
    return;
  }
  const principal = await callers.authenticate(request);
  request.principal = principal;
  callers.limitRate(principal, reply.header.bind(reply));
  if (roleAllows(principal.role, route.role)) return;
  reportRefusal(options, request, route);
  throw new ApiError(
    'forbidden',
    `This requires the role ${route.role}; the API key has the role ${principal.role}.`,
  );
};

/** Mounts every route under its bases. */
export const mountRoutes = (
  app: FastifyInstance,
  routes: readonly Route[],
  callers: Callers,
  options: ServerOptions,
): void => {
  const { log, trace = (request, fn) => fn(newTraceparent(request.traceparent)) } = options;
  const largeBodies = new Semaphore(largeBody.atOnce);

  const respond = async (route: Route, request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const run = () => serveRoute(route, request.principal!, options, request, reply);
    const size = (request.body as Buffer | undefined)?.length ?? 0;
    try {
      await (size > largeBody.bytes ? largeBodies.run(run) : run());
    } catch (error) {
      if (error instanceof ApiError && error.code === 'forbidden') reportRefusal(options, request, route);
      sendFailure(log, error, request, reply);
    }
  };

  const handle = async (base: Base, route: Route, request: FastifyRequest, reply: FastifyReply) => {
    const { method, originalUrl, protocol: scheme } = request;
    const path = pathOf(originalUrl);
    const traceparent = parseTraceparent(request.headers.traceparent);
    await trace({ method, route: base + route.path, path, scheme, traceparent }, async (own) => {
      reply.header('traceparent', own);
      await respond(route, request, reply);
      return reply.statusCode;
    });
    return reply;
  };

  for (const route of routes) {
    for (const base of basesOf(route)) {
      app.route({
        method: route.method,
        url: routerPath(base + route.path),
        config: { operation: route.id },
        onRequest: (request, reply) => admit(route, callers, options, request, reply),
        handler: (request, reply) => handle(base, route, request, reply),
      });
    }
  }
};

/** Refuses unknown paths before their body is read: 404 with the methods of the path, under a base only with a key. */
export const refuseUnknownPaths = (
  app: FastifyInstance,
  routes: readonly Route[],
  { authenticate, limitRate }: Callers,
): void => {
  const patterns = routes.flatMap((route) =>
    basesOf(route).map((base) => ({ pattern: pathPattern(base + route.path), method: route.method })),
  );
  app.addHook('onRequest', async (request, reply) => {
    if (!request.is404) return;
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
  });
};

/** Mounts `/healthz`, `/readyz` and `/metrics`, which need no key. */
export const mountHealth = (
  app: FastifyInstance,
  { readiness, metrics }: Pick<ServerOptions, 'readiness' | 'metrics'>,
): void => {
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async () => {
    const reason = await readiness();
    if (reason === null) return { status: 'ready' };
    throw new ApiError('service_unavailable', `Not ready: ${reason}.`, {}, { 'retry-after': '2' });
  });
  app.get('/metrics', async (_request, reply) => {
    const { contentType, text } = await metrics();
    return reply.header('content-type', contentType).send(text);
  });
};
