import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { pathOf } from './addresses.ts';
import { createFastify } from './fastify.ts';

export interface HealthParts {
  /** For `/readyz`: resolves to null if ready, or to the reason why not. */
  readiness: () => Promise<string | null>;
  metrics: () => Promise<{ contentType: string; text: string }>;
}

const notFound = (message: string) => new ApiError('not_found', message);

/**
 * Mounts `/healthz`, `/readyz` and `/metrics`, which need no key. Proxies keep the last two internal by their paths, so
 * they exist only at the path as it was sent: `/metrics/` and `/%6detrics` pass such a rule, and are 404.
 * `withMetrics: false`: `/metrics` is 404, too, because the management port has it.
 */
export const mountHealth = (
  app: FastifyInstance,
  { readiness, metrics }: HealthParts,
  { withMetrics }: { withMetrics: boolean },
): void => {
  const mount = (path: string, serve: () => Promise<{ type?: string; body: unknown }>): void => {
    app.get(path, async ({ originalUrl }, reply) => {
      if (pathOf(originalUrl) !== path)
        throw notFound(`There is nothing at this path, only at exactly ${path}.`);
      const { type, body } = await serve();
      if (type) reply.header('content-type', type);
      return reply.send(body);
    });
  };
  mount('/healthz', async () => ({ body: { status: 'ok' } }));
  mount('/readyz', async () => {
    const reason = await readiness();
    if (reason === null) return { body: { status: 'ready' } };
    throw new ApiError('service_unavailable', `Not ready: ${reason}.`, {}, { 'retry-after': '2' });
  });
  mount('/metrics', async () => {
    if (!withMetrics) throw notFound('There is nothing at this path: the management port has the metrics.');
    const { contentType, text } = await metrics();
    return { type: contentType, body: text };
  });
};

/** A port of a server. */
export interface Listener {
  /** Resolves with the port it listens on. */
  listen(port: number, host: string): Promise<number>;
  /** Resolves when every request has ended, or was cut off after 3 s. */
  close(): Promise<void>;
}

/**
 * The time limit of a request after `close`, in milliseconds. Then it is cut off: a slow client must not delay the
 * stop.
 */
const closeWithinMs = 3_000;

export const listenerOf = (app: FastifyInstance): Listener => ({
  listen: async (port, host) => {
    await app.listen({ port, host });
    return (app.server.address() as AddressInfo).port;
  },
  close: async () => {
    const cut = setTimeout(() => app.server.closeAllConnections(), closeWithinMs);
    await app.close().finally(() => clearTimeout(cut));
  },
});

/** Makes the server of the management port, which has `/healthz`, `/readyz` and `/metrics` and nothing else. */
export const createManagementServer = (parts: HealthParts & { log: Logger }): Listener => {
  const app = createFastify(parts.log);
  app.addHook('onRequest', async ({ is404 }) => {
    if (is404) throw notFound('There is nothing at this path. GET /healthz, /readyz and /metrics are here.');
  });
  mountHealth(app, parts, { withMetrics: true });
  return listenerOf(app);
};
