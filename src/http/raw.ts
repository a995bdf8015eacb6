import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Principal } from '../lib/principal.ts';

/** What answers requests that are no JSON API: it reads and writes as it likes (the telemetry receiver). */
export interface RawRoute {
  paths: readonly string[];
  /** Its operation in the documents of the public bases, POST at `path` below the base. */
  document: { path: string; id: string; operation: Record<string, unknown> };
  handler: (request: RawRequest) => Promise<RawAnswer>;
}

export interface RawRequest {
  method: string;
  headers: Record<string, string | string[] | undefined>;
  body: NodeJS.ReadableStream;
  /** Throws the ApiError (401 or 429) that the JSON API would answer. */
  authenticate: () => Promise<Principal>;
}

export interface RawAnswer {
  status: number;
  headers?: Record<string, string>;
  body: string | Buffer;
}

/**
 * Raw routes answer before Fastify looks at the body: it would refuse a Content-Type that it cannot parse in
 * the shape of the JSON API's errors.
 */
export const mountRaw = (
  app: FastifyInstance,
  rawRoutes: readonly RawRoute[],
  authenticate: (request: FastifyRequest) => Promise<Principal>,
): void => {
  for (const raw of rawRoutes) {
    const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const { status, headers, body } = await raw.handler({
        method: request.method,
        headers: request.headers,
        body: request.raw,
        authenticate: () => authenticate(request),
      });
      return reply
        .code(status)
        .headers(headers ?? {})
        .send(body);
    };
    for (const path of raw.paths) app.all(path, { onRequest: answer, config: { operation: 'raw' } }, answer);
  }
};
