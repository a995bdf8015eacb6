import type { z } from 'zod';
import type { Tx } from '../database/index.ts';
import type { Actor, Principal, RequiredRole } from '../lib/principal.ts';
import type { Base } from './addresses.ts';
import type { RawRoute } from './raw.ts';

/** What a handler receives. Type parameters: what `find` loaded, the parsed query, the parsed body. */
export interface Context<F = unknown, Q = unknown, B = unknown> {
  principal: Principal;
  /** The principal and the id of the request, for the audit log. */
  actor: Actor;
  /** The decoded parameters of the path. */
  params: Record<string, string>;
  query: Q;
  body: B;
  found: F;
  /**
   * Runs `fn` in the one transaction of a request that changes something. With an `Idempotency-Key` its row is inserted
   * first, and the response that `fn` resolves to is stored with it, all in this transaction.
   */
  transaction<T>(fn: (tx: Tx) => Promise<T>): Promise<T>;
  /** Throws 412 unless the `If-Match` of the request, if it has one, names `revision`. Call it for the locked row. */
  ifMatch(revision: number): void;
  /** Sets `ETag: "revision"` on the response. */
  etag(revision: number): void;
}

interface RouteSpec<F, Q extends z.ZodType, B extends z.ZodType, A extends z.ZodType> {
  /** The operationId: camel case and unique. */
  id: string;
  /** The least role that may call it. `permissions.md` lists those of all operations. */
  role: RequiredRole;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Relative to its base, with parameters in braces: `/agents/{agent_id}`. */
  path: string;
  /** Verb and noun: `Create an agent`. */
  summary: string;
  description?: string;
  /** `public` (default): under /api/v2 and /api/v1. `v2`: under /api/v2 only. `app`: under /app/api. */
  base?: 'public' | 'v2' | 'app';
  /** Loads what the path names, and throws its 404s and 400s, before query and body are read. */
  find?: (request: { params: Record<string, string>; principal: Principal }) => Promise<F>;
  query?: Q;
  body?: B;
  /** The request may have no body. */
  bodyOptional?: boolean;
  /** Fields of the body whose every fault is a 400 instead of a 422, because the description says so. */
  badRequestFields?: readonly string[];
  /**
   * Checks a well-formed body for faults that its schema cannot find and that are a 400 (payload size). It runs before
   * the schema, because 400 wins over 422. Throws an ApiError.
   */
  checkBody?: (body: Record<string, unknown>) => Promise<void> | void;
  /** The status of success; default 200. A 204 has no body. */
  status?: 200 | 201 | 202 | 204;
  response?: A;
  /** Other statuses that the handler can cause, for the document. */
  otherStatuses?: readonly (400 | 404 | 412 | 422)[];
  /** The route takes an `Idempotency-Key`. The handler must do its work in `transaction`. */
  idempotent?: boolean;
  /** The response has an ETag. A route that changes an existing resource also takes an `If-Match`. */
  etag?: boolean;
  handler: (context: Context<F, z.output<Q>, z.output<B>>) => Promise<z.input<A>>;
}

/** A route as a value in a list, without its own types. */
export type Route = RouteSpec<unknown, z.ZodType, z.ZodType, z.ZodType>;

/** The routes of one feature, which the OpenAPI documents group under its tag. */
export interface RouteGroup {
  tag?: { name: string; description: string };
  routes?: readonly Route[];
  rawRoutes?: readonly RawRoute[];
}

/** The bases under which a route is served. */
export const basesOf = (route: Route): readonly Base[] => {
  if (route.base === 'app') return ['/app/api'];
  return route.base === 'v2' ? ['/api/v2'] : ['/api/v2', '/api/v1'];
};

/** Returns `spec`, a plain object; it only infers the types. */
export const route = <
  F = undefined,
  Q extends z.ZodType = z.ZodType<undefined>,
  B extends z.ZodType = z.ZodType<undefined>,
  A extends z.ZodType = z.ZodType,
>(
  spec: RouteSpec<F, Q, B, A>,
): Route => spec as unknown as Route;
