import type { z } from 'zod';
import type { Tx } from '../database/index.ts';
import type { Actor, Principal, RequiredRole } from '../lib/principal.ts';
import type { Base } from './addresses.ts';
import type { RawRoute } from './raw.ts';

/** What a handler is given. Type parameters: what `find` loaded, the parsed query, the parsed body. */
export interface Context<F = unknown, Q = unknown, B = unknown> {
  principal: Principal;
  /** The principal and the id of the request, for the audit log. */
  actor: Actor;
  /** The path's parameters, decoded. */
  params: Record<string, string>;
  query: Q;
  body: B;
  found: F;
  /**
   * The one transaction of a request that changes something. With an `Idempotency-Key` its row is inserted
   * first and the answer that `fn` resolves to is stored with it, all in this transaction.
   */
  transaction<T>(fn: (tx: Tx) => Promise<T>): Promise<T>;
  /** 412 unless the request's `If-Match`, if it has one, names `revision`. Call it on the locked row. */
  ifMatch(revision: number): void;
  /** Answer with `ETag: "revision"`. */
  etag(revision: number): void;
}

interface RouteSpec<F, Q extends z.ZodType, B extends z.ZodType, A extends z.ZodType> {
  /** The operationId: camel case and unique. */
  id: string;
  /** The least role that may call it. `permissions.md` lists those of all operations. */
  role: RequiredRole;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Relative to its base, parameters in braces: `/agents/{agent_id}`. */
  path: string;
  summary: string;
  description?: string;
  /** `public` (default): under /api/v2 and /api/v1. `v2`: under /api/v2 only. `app`: under /app/api. */
  base?: 'public' | 'v2' | 'app';
  /** Loads what the path names, throwing its 404s and 400s, before query and body are read. */
  find?: (request: { params: Record<string, string>; principal: Principal }) => Promise<F>;
  query?: Q;
  body?: B;
  /** The body may be left out altogether. */
  bodyOptional?: boolean;
  /** Body fields whose every fault is a 400, where the description says so. */
  badRequestFields?: readonly string[];
  /**
   * Faults of a well-formed body that need more than its schema, all 400 (payload size): found before the
   * schema's are answered, since 400 wins where both happen. Throws an ApiError.
   */
  checkBody?: (body: Record<string, unknown>) => Promise<void> | void;
  /** The status of success; default 200. 204 has no answer. */
  status?: 200 | 201 | 202 | 204;
  response?: A;
  /** Other statuses that the handler can answer, for the document. */
  otherStatuses?: readonly (400 | 404 | 412 | 422)[];
  /** Takes an `Idempotency-Key`. The handler must do its work in `change`. */
  idempotent?: boolean;
  /** Answers with an ETag; where it changes what is there already it takes an `If-Match`. */
  etag?: boolean;
  handler: (context: Context<F, z.output<Q>, z.output<B>>) => Promise<z.input<A>>;
}

/** A route as everyone else sees it: a value in a list, its types settled. */
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

/** An endpoint is one plain object; this only settles its types. */
export const route = <
  F = undefined,
  Q extends z.ZodType = z.ZodType<undefined>,
  B extends z.ZodType = z.ZodType<undefined>,
  A extends z.ZodType = z.ZodType,
>(
  spec: RouteSpec<F, Q, B, A>,
): Route => spec as unknown as Route;
