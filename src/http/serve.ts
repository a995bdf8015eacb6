import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Database } from '../database/index.ts';
import type { Vault } from '../lib/crypto.ts';
import { badRequest } from '../lib/errors.ts';
import type { Principal } from '../lib/principal.ts';
import { oneHeader } from './addresses.ts';
import { checkIfMatch, etagOf } from './etag.ts';
import { checkIdempotencyKey, IdempotentReplay, requestHash, withIdempotencyKey } from './idempotency.ts';
import type { Context, Route } from './route.ts';
import { readJson, validate } from './validate.ts';

const readBody = async (route: Route, raw: unknown): Promise<unknown> => {
  if (!route.body) return undefined;
  if (raw === undefined && !route.bodyOptional) {
    throw badRequest('A JSON body is required, with Content-Type: application/json.');
  }
  const value = raw === undefined ? {} : raw;
  if (route.checkBody && value !== null && typeof value === 'object' && !Array.isArray(value)) {
    await route.checkBody(value as Record<string, unknown>);
  }
  return validate(route.body, value, 'body', route.badRequestFields);
};

/**
 * Serves an admitted request: loads what its path names, checks query and body, runs the handler, and sends the result
 * through the response schema, so that no undeclared field is sent. Throws the error that becomes the error body.
 */
export const serveRoute = async (
  route: Route,
  principal: Principal,
  parts: { db: Database; vault: Vault },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> => {
  const params = request.params as Record<string, string>;
  const { headers } = request;
  const found = await route.find?.({ params, principal });
  const raw = route.body
    ? readJson(request.body as Buffer | undefined, headers['content-type'], headers['content-encoding'])
    : undefined;
  const query = route.query ? validate(route.query, { ...(request.query as object) }, 'query') : undefined;
  const body = await readBody(route, raw);
  const ifMatch = oneHeader(headers['if-match'], 'If-Match');
  const key = route.idempotent ? oneHeader(headers['idempotency-key'], 'Idempotency-Key') : undefined;
  if (key !== undefined) checkIdempotencyKey(key);
  let etag: string | null = null;
  const context: Context = {
    principal,
    actor: { principal, requestId: request.id },
    params,
    query,
    body,
    found,
    ifMatch: (revision) => checkIfMatch(ifMatch, revision),
    etag: (revision) => {
      etag = etagOf(revision);
    },
    transaction: (fn) =>
      parts.db.tx((tx) => {
        if (key === undefined) return fn(tx);
        const request = { principalId: principal.id, key, hash: requestHash(route.id, params, raw) };
        return withIdempotencyKey(
          tx,
          parts.vault,
          request,
          () => fn(tx),
          (body) => ({ body, etag }),
        );
      }),
  };
  let result: unknown;
  try {
    result = await route.handler(context);
  } catch (error) {
    if (!(error instanceof IdempotentReplay)) throw error;
    result = error.response.body;
    etag = error.response.etag;
    reply.header('idempotency-replayed', 'true');
  }
  if (etag) reply.header('etag', etag);
  reply.code(route.status ?? 200);
  if (route.response) {
    reply
      .header('content-type', 'application/json; charset=utf-8')
      .send(JSON.stringify(route.response.parse(result)));
  } else reply.send();
};
