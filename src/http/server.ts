import type { FastifyInstance } from 'fastify';
import type { Database } from '../database/index.ts';
import type { Vault } from '../lib/crypto.ts';
import type { Logger } from '../lib/log.ts';
import type { Actor } from '../lib/principal.ts';
import { type Base, bases } from './addresses.ts';
import { type CallerParts, type Callers, createCallers } from './callers.ts';
import { createFastify } from './fastify.ts';
import { type HealthParts, type Listener, listenerOf, mountHealth } from './health.ts';
import { mountHooks } from './hook-route.ts';
import { mountRoutes } from './mount.ts';
import { type ApiDocument, describeApi } from './openapi.ts';
import { mountRaw, type RawParts } from './raw.ts';
import { responseHeaders } from './response-headers.ts';
import type { RouteGroup } from './route.ts';
import { refuseUnknownPaths } from './unknown-paths.ts';

export interface ServerOptions extends CallerParts, HealthParts {
  /** The routes, grouped as in the OpenAPI documents. */
  groups: readonly RouteGroup[];
  db: Database;
  vault: Vault;
  log: Logger;
  version: string;
  /** Called after a 403. */
  onRefused?: (actor: Actor, request: { operation: string; path: string }) => void;
  /** Called after every response. */
  onResponse?: (request: { operation: string; method: string; status: number; seconds: number }) => void;
  /** Runs `fn` in a span of the request. `fn` receives the span's traceparent and resolves to the status. */
  trace?: (
    request: {
      method: string;
      route: string;
      /** As it was sent, without the query. */
      path: string;
      scheme: string;
      traceparent: string | undefined;
    },
    fn: (traceparent: string) => Promise<number>,
  ) => Promise<unknown>;
  /** True if the metrics have a port of their own: `/metrics` is then not here. */
  hasManagementPort?: boolean;
}

export interface Server extends Listener {
  /** The OpenAPI document of a base. */
  document(base: Base): ApiDocument;
}

/** Makes the document of a base when it is first used: only then is the public address known. */
const createDocuments = ({ groups, publicUrl, version }: ServerOptions): ((base: Base) => ApiDocument) => {
  const documents = new Map<Base, ApiDocument>();
  return (base) => {
    const document = documents.get(base) ?? describeApi({ base, publicUrl: publicUrl(), version, groups });
    documents.set(base, document);
    return document;
  };
};

/** A document has a megabyte and needs no key: it is encoded once, and an address gets it only so often. */
const mountDocuments = (
  app: FastifyInstance,
  documentOf: (base: Base) => ApiDocument,
  { limitAttempts }: Callers,
): void => {
  for (const base of bases) {
    let bytes: Buffer | undefined;
    app.get(base, async (request, reply) => {
      limitAttempts(request);
      bytes ??= Buffer.from(documentOf(base).text);
      return reply.header('content-type', 'application/json; charset=utf-8').send(bytes);
    });
  }
};

/** Counts and logs a response. */
const responseReporter =
  ({ log, onResponse }: ServerOptions): RawParts['onResponse'] =>
  ({ id, operation, method, status, ms }) => {
    onResponse?.({ operation, method, status, seconds: ms / 1000 });
    log.debug({ request_id: id, operation, status, ms: Math.round(ms) }, 'request');
  };

const reportResponses = (app: FastifyInstance, onResponse: RawParts['onResponse']): void => {
  app.addHook('onResponse', async (request, reply) => {
    const { method, id } = request;
    const route = request.routeOptions.config as { operation?: string };
    const operation = request.operation ?? route.operation ?? 'none';
    onResponse({ id, operation, method, status: reply.statusCode, ms: reply.elapsedTime });
  });
};

/** Makes an HTTP server of routes. It knows HTTP and no feature. */
export const createServer = (options: ServerOptions): Server => {
  const { log, groups } = options;
  const routes = groups.flatMap((group) => group.routes ?? []);
  const rawRoutes = groups.flatMap((group) => group.rawRoutes ?? []);
  const callers = createCallers(options);
  const documentOf = createDocuments(options);
  const onResponse = responseReporter(options);
  const stopping = new AbortController();

  const app = createFastify(log, options);
  refuseUnknownPaths(app, groups, callers);
  reportResponses(app, onResponse);
  mountRoutes(app, routes, callers, options, stopping.signal);
  mountHooks(
    app,
    groups.flatMap(({ hooks = [] }) => hooks),
    callers,
  );
  mountDocuments(app, documentOf, callers);
  mountHealth(app, options, { withMetrics: !options.hasManagementPort });
  mountRaw(app, rawRoutes, {
    ...callers,
    log,
    onResponse,
    closing: () => stopping.signal.aborted,
    headers: () => responseHeaders(options.publicUrl()),
  });

  const listener = listenerOf(app);
  return {
    ...listener,
    document: documentOf,
    close: () => {
      stopping.abort();
      return listener.close();
    },
  };
};
