import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Tx } from '../database/index.ts';
import { oneHeader } from './addresses.ts';
import { type Context, runHandler, type SetHeader } from './context.ts';
import { checkIfMatch, etagOf, type Locked } from './etag.ts';
import { type PartFailure, toPartFailure } from './failure.ts';
import { type BodySpec, bodySpecOf, findFor, readGiven } from './given.ts';
import {
  checkIdempotencyKey,
  IdempotentReplay,
  parseStored,
  requestHash,
  withIdempotencyKey,
} from './idempotency.ts';
import {
  bodyDocument,
  describeOperation,
  idempotencyKeyParameter,
  ifMatchParameter,
  ifNoneMatchParameter,
  jsonResponses,
  queryParameters,
} from './operation-document.ts';
import { type Call, type Find, type Json, type Operation, type Route, routeOf } from './route.ts';
import { isUnchanged, type Responses, responseOf, sendJson } from './send-json.ts';

/** What a handler of a JSON route gets. `L`: what `lock` locked. */
export interface JsonContext<F = unknown, Q = unknown, B = unknown, L = undefined>
  extends Omit<Context<F, Q>, 'transaction'> {
  body: B;
  /**
   * Runs `fn` in the one transaction of a request that changes something. With an `Idempotency-Key` its row is inserted
   * first, and the response that `fn` resolves to is stored with it. `lock` is called next: if the `If-Match` of the
   * request names another revision, this throws 412.
   */
  transaction<T>(fn: (tx: Tx, locked: L) => Promise<T>): Promise<T>;
  header: SetHeader;
  /** Sets `ETag: "revision"` on the response. The route has `cache: 'revision'`. */
  etag(revision: number): void;
  /** Makes the response a 202: the work goes on after it. The route has the responses 200 and 202. */
  accepted(): void;
  /** Throws 401, 403 or 404 if the caller has lost access since the request began. */
  checkAccess(): Promise<void>;
  /** Returns and logs the error of one part of the request, for a response that has one for each part. */
  failureOf(error: unknown): PartFailure;
}

/** An operation with JSON in and out. */
export interface JsonOperation<F, Q extends z.ZodType, B extends z.ZodType, A extends z.ZodType, L>
  extends Operation {
  /**
   * Called before query and body are read. `ifRefused`: the handler locks what the path names, with the same 404s and
   * 400s, so it is only called if query or body are refused, and `found` is undefined: a create saves a round trip.
   */
  find?: Find<F> | { ifRefused: Find<unknown> };
  query?: Q;
  body?: B | BodySpec<B>;
  /** Without it the response is a 204. If it is nullable, null is a 204. */
  response?: Responses<A>;
  /**
   * `revision`: the handler sets the ETag. `content`: it is made of the whole response, or
   * of what a function returns of one with parts that always change; a request that names it in `If-None-Match` gets 304.
   * `never`: nothing may store the response, because it sets a cookie or says who has access.
   */
  cache?: 'revision' | 'content' | 'never' | ((response: z.output<A>) => unknown);
  /** The route takes an `Idempotency-Key`. The handler must do its work in `transaction`. */
  idempotent?: boolean;
  /**
   * Locks the resource that the request changes, and checks the body against it: what is wrong with the body comes before
   * the 412 of another revision. The route takes an `If-Match`.
   */
  lock?: (
    tx: Tx,
    context: Omit<JsonContext<F, z.output<Q>, z.output<B>>, 'transaction'>,
  ) => Promise<L & Locked>;
  handler: (context: JsonContext<F, z.output<Q>, z.output<B>, L>) => Promise<z.input<A>>;
}

/** A spec without its own types. */
// biome-ignore lint/suspicious/noExplicitAny: the types of one route, which only its own functions know
type AnySpec = JsonOperation<any, z.ZodType, z.ZodType, z.ZodType, any>;

/** The parts of a request that a JSON route reads after its path. */
const readAll = async (spec: AnySpec, request: FastifyRequest) => {
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
    spec: AnySpec,
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

const serveJson = async (spec: AnySpec, call: Call): Promise<void> => {
  const { request, reply } = call;
  const { find, cache } = spec;
  const isLate = typeof find === 'object';
  const found = isLate ? undefined : await findFor(find, request);
  const given = await readAll(spec, request).catch(async (error) => {
    // What the path names comes before what is wrong with the rest.
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

const describeJson = (spec: AnySpec, components: Json, tags: string[]): Json => {
  const { query, body, cache, idempotent, lock } = spec;
  const hasContentTag = cache === 'content' || typeof cache === 'function';
  return describeOperation(spec, tags, {
    query: queryParameters(query, components),
    headers: [
      ...(idempotent ? [idempotencyKeyParameter] : []),
      ...(hasContentTag ? [ifNoneMatchParameter] : []),
      ...(lock ? [ifMatchParameter] : []),
    ],
    ...bodyDocument(bodySpecOf(body), components),
    success: jsonResponses(spec.response, hasContentTag ? 'content' : cache, components),
    failures: [...(body || query || idempotent ? [422] : []), ...(lock ? [412] : [])],
  });
};

/** An operation with JSON in and out. */
export const jsonRoute = <
  F = undefined,
  Q extends z.ZodType = z.ZodType<undefined>,
  B extends z.ZodType = z.ZodType<undefined>,
  A extends z.ZodType = z.ZodType,
  L = undefined,
>(
  spec: JsonOperation<F, Q, B, A, L>,
): Route => {
  const any = spec as unknown as AnySpec;
  if (spec.role === 'anyone' && spec.body) throw new Error(`${spec.id}: a body of anyone needs a limit`);
  return routeOf(any, {
    find: typeof any.find === 'object' ? any.find.ifRefused : any.find,
    admission: { noStore: any.cache === 'never' },
    serve: (call) => serveJson(any, call),
    describe: (components, tags) => describeJson(any, components, tags),
  });
};
