import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { oneHeader } from './addresses.ts';
import { runHandler } from './context.ts';
import { checkIfMatch, etagOf } from './etag.ts';
import { toPartFailure } from './failure.ts';
import { bodySpecOf, findFor, readGiven } from './given.ts';
import {
  checkIdempotencyKey,
  IdempotentReplay,
  parseStored,
  requestHash,
  withIdempotencyKey,
} from './idempotency.ts';
import type { AnyJsonOperation, JsonContext } from './json-operation.ts';
import type { Call } from './route.ts';
import { isUnchanged, responseOf, sendJson } from './send-json.ts';

/** The parts of a request that a JSON route reads after its path. */
const readAll = async (spec: AnyJsonOperation, request: FastifyRequest) => {
  const { headers } = request;
  const given = await readGiven(spec.query, bodySpecOf(spec.body), request);
  const ifMatch = oneHeader(headers['if-match'], 'If-Match');
  const key = spec.idempotent ? oneHeader(headers['idempotency-key'], 'Idempotency-Key') : undefined;
  if (key !== undefined) checkIdempotencyKey(key);
  return { ...given, ifMatch, key };
};

/** The response of a request so far; a handler, and a request that is repeated, may change it. */
interface Sent {
  status: number;
  etag: string | null;
  isReplay: boolean;
}

type Transaction = JsonContext<unknown, unknown, unknown, unknown>['transaction'];

/** Makes the transaction of a handler: the idempotency key first, then the lock with `If-Match`, then its own work. */
const transactionOf =
  (
    spec: AnyJsonOperation,
    { db, vault, request }: Call,
    given: Awaited<ReturnType<typeof readAll>>,
    sent: Sent,
    context: JsonContext,
  ): Transaction =>
  (fn) =>
    db.tx(async (tx) => {
      const run = async () => {
        const locked = await spec.lock?.(tx, context);
        if (spec.lock) checkIfMatch(given.ifMatch, locked);
        return fn(tx, locked);
      };
      const { key } = given;
      if (key === undefined) return run();
      const hash = requestHash(spec.id, context.params, given.raw);
      return withIdempotencyKey(
        tx,
        vault,
        { principalId: request.principal!.id, key, hash },
        run,
        (body) => ({
          status: sent.status,
          body,
          etag: sent.etag,
        }),
      );
    });

/**
 * Loads what the path names, checks query and body, runs the handler, and sends the result through the response schema, so
 * that no undeclared field is sent.
 */
export const serveJson = async (spec: AnyJsonOperation, call: Call): Promise<void> => {
  const { request, reply } = call;
  const { find, cache } = spec;
  const isLate = typeof find === 'object';
  const found = isLate ? undefined : await findFor(find, request);
  const given = await readAll(spec, request).catch(async (error) => {
    // A 404 of the path comes before faults of the rest.
    if (isLate) await findFor(find.ifRefused, request);
    throw error;
  });
  const { status, schema } = responseOf(spec.response);
  const sent: Sent = { status, etag: null, isReplay: false };
  const own = {
    body: given.body,
    header: (name: string, value: string | string[]) => void reply.header(name, value),
    accepted: () => {
      sent.status = 202;
    },
    etag: (revision: number) => {
      sent.etag = etagOf(revision);
    },
    checkAccess: call.recheck,
    failureOf: (error: unknown) => toPartFailure(call.log, error, request),
  };
  const { result } = await runHandler<JsonContext, unknown>(
    call,
    { found, query: given.query },
    own,
    async (context) => {
      const transaction = transactionOf(spec, call, given, sent, context);
      try {
        return await spec.handler(Object.assign(context, { transaction }));
      } catch (error) {
        if (!(error instanceof IdempotentReplay)) throw error;
        const { body, etag, status: first = status } = error.response;
        Object.assign(sent, { etag, status: first, isReplay: true });
        reply.header('idempotency-replayed', 'true');
        return body;
      }
    },
  );
  if (sent.etag) reply.header('etag', sent.etag);
  reply.code(sent.status);
  if (!schema) return void reply.send();
  if (result === null && schema instanceof z.ZodNullable) return void reply.code(204).send();
  const response = sent.isReplay ? parseStored(schema, result) : schema.parse(result);
  if (cache === 'content' || typeof cache === 'function') {
    const content = cache === 'content' ? response : cache(response);
    if (isUnchanged(content, call)) return void reply.code(304).send();
  }
  await sendJson(spec, response, call);
};
