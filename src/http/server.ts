import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Database } from '../database/index.ts';
import type { Vault } from '../lib/crypto.ts';
import type { Logger } from '../lib/log.ts';
import type { Actor } from '../lib/principal.ts';
import { type Base, bases } from './addresses.ts';
import { type CallerParts, createCallers } from './callers.ts';
import { createFastify } from './fastify.ts';
import { mountHealth, mountRoutes, refuseUnknownPaths } from './mount.ts';
import { type ApiDocument, describeApi } from './openapi.ts';
import { mountRaw, type RawParts } from './raw.ts';
import type { RouteGroup } from './route.ts';

export interface ServerOptions extends CallerParts {
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
  /** For `/readyz`: resolves to null if ready, or to the reason why not. */
  readiness: () => Promise<string | null>;
  metrics: () => Promise<{ contentType: string; text: string }>;
}

export interface Server {
  /** Resolves with the port it listens on. */
  listen(port: number, host: string): Promise<number>;
  /** Resolves when every request has ended, or was cut off after 3 s. */
  close(): Promise<void>;
  /** The OpenAPI document of a base. */
  document(base: Base): ApiDocument;
}

/**
 * How long a request may take after `close`, in milliseconds. Then it is cut off: a slow client must not delay the
 * stop.
 */
const closeWithinMs = 3_000;

/** Makes the document of a base when it is first used: only then is the public address known. */
const createDocuments = ({ groups, publicUrl, version }: ServerOptions): ((base: Base) => ApiDocument) => {
  const documents = new Map<Base, ApiDocument>();
  return (base) => {
    const document = documents.get(base) ?? describeApi({ base, publicUrl: publicUrl(), version, groups });
    documents.set(base, document);
    return document;
  };
};

const mountDocuments = (app: FastifyInstance, documentOf: (base: Base) => ApiDocument): void => {
  for (const base of bases) {
    app.get(base, async (_request, reply) =>
      reply.header('content-type', 'application/json; charset=utf-8').send(documentOf(base).text),
    );
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

  const app = createFastify(log, options.trustProxy);
  refuseUnknownPaths(app, groups, callers);
  reportResponses(app, onResponse);
  mountRoutes(app, routes, callers, options, stopping.signal);
  mountDocuments(app, documentOf);
  mountHealth(app, options);
  mountRaw(app, rawRoutes, { ...callers, log, onResponse, closing: () => stopping.signal.aborted });

  return {
    document: documentOf,
    listen: async (port, host) => {
      await app.listen({ port, host });
      return (app.server.address() as AddressInfo).port;
    },
    close: async () => {
      stopping.abort();
      const cut = setTimeout(() => app.server.closeAllConnections(), closeWithinMs);
      await app.close().finally(() => clearTimeout(cut));
    },
  };
};
