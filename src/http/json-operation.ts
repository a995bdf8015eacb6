import type { z } from 'zod';
import type { Tx } from '../database/index.ts';
import type { Context, SetHeader } from './context.ts';
import type { Locked } from './etag.ts';
import type { PartFailure } from './failure.ts';
import type { BodySpec } from './given.ts';
import type { Find, Operation } from './route.ts';
import type { Responses } from './send-json.ts';

/** The context of a handler of a JSON route. `L`: what `lock` locked. */
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
  /** The response may be long, and every client that accepts it compressed gets it so. It has no secret. */
  compressed?: true;
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
export type AnyJsonOperation = JsonOperation<any, z.ZodType, z.ZodType, z.ZodType, any>;
