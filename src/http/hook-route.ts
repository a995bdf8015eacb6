import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { parseTraceparent } from '../lib/traceparent.ts';
import { RequestBodies } from './bodies.ts';
import type { Callers } from './callers.ts';

export interface HookRequest {
  method: string;
  /** The decoded parameters of the path. */
  params: Record<string, string>;
  headers: IncomingHttpHeaders;
  /**
   * Resolves to the body as it was sent. Throws 400 if it has more than `limit` bytes, and 503 while other requests hold
   * too much memory.
   */
  readBody(limit: number): Promise<Buffer>;
  /** Takes one request from the bucket `name`, which has the limits of an API key; throws 429. */
  limitRate(name: string): void;
}

interface HookResponse {
  status: number;
  headers?: Record<string, string>;
  body: string;
}

/**
 * A route that other systems call without a key of the platform: its handler authenticates the request itself. It gets
 * every method, and is in no document. A failure is the error body of the JSON API; a 401 and a 400 count against the
 * address of the caller, as a wrong key does.
 */
export interface HookRoute {
  /** From the root, with parameters in braces: `/hooks/{trigger_id}`. */
  path: string;
  /** For the metrics. */
  operation: string;
  handler: (request: HookRequest) => Promise<HookResponse>;
}

/**
 * Mounts hook routes. They run in the hook `onRequest`, before Fastify looks at the body: its size and its type are for
 * the handler to judge, after it has found out what the path names.
 */
export const mountHooks = (
  app: FastifyInstance,
  routes: readonly HookRoute[],
  { countFailure, limitName }: Callers,
): void => {
  const bodies = new RequestBodies();
  for (const { path, operation, handler } of routes) {
    const respond = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const traceparent = parseTraceparent(request.headers.traceparent);
      if (traceparent !== undefined) reply.header('traceparent', traceparent);
      try {
        const { status, headers, body } = await handler({
          method: request.method,
          params: request.params as Record<string, string>,
          headers: request.headers,
          readBody: (limit) => bodies.read(request.raw, reply.raw, limit),
          limitRate: (name) => limitName(name, reply.header.bind(reply)),
        });
        return reply
          .code(status)
          .headers({ ...headers })
          .send(body);
      } catch (error) {
        throw countFailure(request, error);
      }
    };
    const pattern = path.replace(/\{(\w+)\}/g, ':$1');
    app.all(pattern, { onRequest: respond, config: { operation } }, respond);
  }
};
