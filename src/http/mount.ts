import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { actFor } from '../lib/acting-for.ts';
import { ApiError } from '../lib/errors.ts';
import { anonymous, type Principal } from '../lib/principal.ts';
import { Semaphore } from '../lib/semaphore.ts';
import { newTraceparent, parseTraceparent } from '../lib/traceparent.ts';
import { type Base, pathOf } from './addresses.ts';
import type { Callers } from './callers.ts';
import { actorOf } from './context.ts';
import { closeAfterBody, sendFailure } from './failure.ts';
import { checkPermission } from './permissions.ts';
import type { Call, Route } from './route.ts';
import type { ServerOptions } from './server.ts';

/**
 * A body larger than this may become ten times its size as an object, kept while its handler waits for the database:
 * only few are parsed at a time, however many arrive.
 */
const largeBody = { bytes: 1024 * 1024, atOnce: 2 };

const routerPath = (path: string): string => path.replace(/\{(\w+)\}/g, ':$1');

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
  const { noStore, checksCredential, checkOrigin, bearerOnly } = route.admission;
  if (noStore) reply.header('cache-control', 'no-store');
  if (route.role === 'anyone') {
    if (checksCredential) callers.limitAttempts(request);
    else callers.limitAddress(request);
    checkOrigin?.({ headers, ownPage });
    request.principal = anonymous;
    return;
  }
  if (!noStore) reply.header('cache-control', 'private, no-cache');
  const principal = await callers.authenticate(request, !bearerOnly);
  request.principal = principal;
  callers.limitRate(principal, reply.header.bind(reply));
  try {
    checkOrigin?.({ headers, ownPage });
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
    route.admission.checksCredential ? callers.countFailure(request, failure) : failure;

  const respond = async (route: Route, request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const call: Call = {
      request,
      reply,
      db,
      vault,
      log,
      stopping,
      limitRate: (principal: Principal) => callers.limitRate(principal, reply.header.bind(reply)),
      // The caller may see less than before, and what the path names may be gone. Not by `callers`, which would count
      // the failure and might throw 429 instead.
      recheck: async () => {
        const credentials = { ...callers.credentialsOf(request, !route.admission.bearerOnly), recheck: true };
        const principal = await options.authenticate(credentials);
        checkPermission(route, principal);
        await route.find?.({ params: request.params as Record<string, string>, principal });
      },
    };
    const run = () =>
      actFor({ root: () => request.principal!.rootId, who: () => request.principal! }, () =>
        route.serve(call),
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
    for (const base of route.bases) {
      app.route({
        method: [route.method, ...(route.moreMethods ?? [])],
        url: routerPath(base + route.path),
        exposeHeadRoute: !route.isRedirect,
        config: {
          operation: route.id,
          upload: route.body?.upload,
          largestBody: route.body?.largest,
        },
        // `readUpload` has limits of its own.
        ...(route.body?.upload ? { bodyLimit: Number.MAX_SAFE_INTEGER } : {}),
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
