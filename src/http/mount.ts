import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { actFor } from '../lib/acting-for.ts';
import { ApiError } from '../lib/errors.ts';
import { anonymous, type Principal } from '../lib/principal.ts';
import { Semaphore } from '../lib/semaphore.ts';
import { newTraceparent, parseTraceparent } from '../lib/traceparent.ts';
import { type Base, baseOf, bases, pathOf } from './addresses.ts';
import type { Callers } from './callers.ts';
import { closeAfterBody, sendFailure } from './failure.ts';
import { checkPermission } from './permissions.ts';
import { basesOf, type Route, type RouteGroup } from './route.ts';
import { actorOf, serveRoute } from './serve.ts';
import type { ServerOptions } from './server.ts';
import { siteResponse } from './site.ts';

/**
 * A body larger than this may become ten times its size as an object, kept while its handler waits for the database:
 * only few are parsed at a time, however many arrive.
 */
const largeBody = { bytes: 1024 * 1024, atOnce: 2 };

const routerPath = (path: string): string => path.replace(/\{(\w+)\}/g, ':$1');
const pathPattern = (path: string): RegExp => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`);

const reportRefusal = (options: ServerOptions, request: FastifyRequest, route: Route): void =>
  options.onRefused?.(actorOf(request), { operation: route.id, path: pathOf(request.url) });

/** Authenticates the caller and counts the request. Throws 401, 403 or 429. */
const admit = async (
  route: Route,
  callers: Callers,
  options: ServerOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> => {
  const { headers } = request;
  const ownPage = () => callers.credentialsOf(request, true).ownPage;
  if (route.noStore) reply.header('cache-control', 'no-store');
  if (route.role === 'anyone') {
    if (route.checksCredential) callers.limitAttempts(request);
    else callers.limitAddress(request);
    route.checkOrigin?.({ headers, ownPage });
    request.principal = anonymous;
    return;
  }
  if (!route.noStore) reply.header('cache-control', 'private, no-cache');
  const principal = await callers.authenticate(request, !route.bearerOnly);
  request.principal = principal;
  callers.limitRate(principal, reply.header.bind(reply));
  try {
    route.checkOrigin?.({ headers, ownPage });
    checkPermission(route, principal);
  } catch (error) {
    reportRefusal(options, request, route);
    throw error;
  }
};

/** Returns the fault to report of a request whose body could not be read: one of what its path names comes first. */
const firstFault = async (route: Route, error: unknown, request: FastifyRequest): Promise<unknown> => {
  const { params, principal } = request;
  if (!(error instanceof ApiError) || error.code !== 'bad_request' || principal === null) return error;
  try {
    await route.find?.({ params: params as Record<string, string>, principal });
    return error;
  } catch (before) {
    return before;
  }
};

/** Mounts every route under its bases. */
export const mountRoutes = (
  app: FastifyInstance,
  routes: readonly Route[],
  callers: Callers,
  options: ServerOptions,
  stopping: AbortSignal,
): void => {
  const { db, vault, log, trace = (request, fn) => fn(newTraceparent(request.traceparent)) } = options;
  const largeBodies = new Semaphore(largeBody.atOnce);

  const counted = (route: Route, request: FastifyRequest, failure: unknown): unknown =>
    route.checksCredential ? callers.countFailure(request, failure) : failure;

  const respond = async (route: Route, request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const parts = {
      db,
      vault,
      log,
      stopping,
      ownPage: () => callers.credentialsOf(request, true).ownPage,
      limitRate: (principal: Principal) => callers.limitRate(principal, reply.header.bind(reply)),
      // The caller may see less than before, and what the path names may be gone. Not by `callers`, which would count
      // the failure and might throw 429 instead.
      recheck: async () => {
        const credentials = { ...callers.credentialsOf(request, !route.bearerOnly), recheck: true };
        const principal = await options.authenticate(credentials);
        checkPermission(route, principal);
        await route.find?.({ params: request.params as Record<string, string>, principal });
      },
    };
    const run = () =>
      actFor(
        () => request.principal!.rootId,
        () => serveRoute(route, parts, request, reply),
      );
    const size = (request.body as Buffer | undefined)?.length ?? 0;
    try {
      await (size > largeBody.bytes ? largeBodies.run(run) : run());
    } catch (failure) {
      const error = counted(route, request, failure);
      // An operation for anyone refuses for reasons of its own, and anyone could fill the audit log with them.
      const refused = route.role !== 'anyone' && error instanceof ApiError && error.code === 'forbidden';
      if (refused) reportRefusal(options, request, route);
      sendFailure(log, error, request, reply, route.failurePage);
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
    if (route.role === 'anyone' && route.body && route.largestBody === undefined) {
      throw new Error(`${route.id} takes a body of anyone: it needs a limit (largestBody)`);
    }
    for (const base of basesOf(route)) {
      app.route({
        method: [route.method, ...(route.web?.methods ?? [])],
        url: routerPath(base + route.path),
        // A HEAD must change nothing, and a redirect of ours ends or begins a sign-in.
        exposeHeadRoute: route.status !== 303,
        config: {
          operation: route.id,
          upload: route.upload && (route.body ? 'formOrJson' : 'form'),
          largestBody: route.largestBody,
        },
        // `readUpload` has limits of its own.
        ...(route.upload ? { bodyLimit: Number.MAX_SAFE_INTEGER } : {}),
        onRequest: (request, reply) => admit(route, callers, options, request, reply),
        errorHandler: async (error, request, reply) => {
          closeAfterBody(request, reply);
          const failure = await firstFault(route, error, request);
          return sendFailure(log, counted(route, request, failure), request, reply, route.failurePage);
        },
        handler: (request, reply) => handle(base, route, request, reply),
      });
    }
  }
};

/** The headers that say who calls, and from which page. */
const callerHeaders = ['cookie', 'host', 'origin', 'sec-fetch-site', 'user-agent'];

/** Reads an operation as the caller of `request`, without a connection. */
const readAs =
  (app: FastifyInstance, { headers, ip }: FastifyRequest) =>
  async (url: string): Promise<string | null> => {
    const own = Object.fromEntries(
      callerHeaders.flatMap((name) => (headers[name] ? [[name, headers[name]]] : [])),
    );
    const { statusCode, payload } = await app.inject({ url, headers: own, remoteAddress: ip });
    return statusCode === 200 ? payload : null;
  };

/**
 * Refuses unknown paths before their body is read: 404 with the methods of the path, under a base only with a key.
 * Browsers get what the sites of the groups have there.
 */
export const refuseUnknownPaths = (
  app: FastifyInstance,
  groups: readonly RouteGroup[],
  { authenticate, limitRate }: Callers,
): void => {
  const routes = groups.flatMap((group) => group.routes ?? []);
  const sites = groups.flatMap((group) => group.site ?? []);
  const reserved = [
    ...bases,
    ...groups.flatMap(({ rawRoutes = [] }) => rawRoutes.flatMap((raw) => raw.paths)),
  ];
  const patterns = routes.flatMap((route) =>
    basesOf(route).map((base) => ({ pattern: pathPattern(base + route.path), method: route.method })),
  );
  app.addHook('onRequest', async (request, reply) => {
    if (!request.is404) return;
    const page = await siteResponse(sites, reserved, request, readAs(app, request));
    if (page) {
      request.operation = 'site';
      return reply.code(page.status).headers(page.headers).send(page.body);
    }
    const path = pathOf(request.url);
    const base = baseOf(path);
    if (base) limitRate(await authenticate(request, true), reply.header.bind(reply));
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
