import type { FastifyInstance, FastifyRequest } from 'fastify';
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

/** Raw routes live in a scope of their own, where a body is a stream. */
export const mountRaw = (
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
