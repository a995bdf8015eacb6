import { type Operations, operations } from './operations.gen.ts';
import { type Query, withQuery } from './request.ts';

export type OperationId = keyof Operations;

type Table = typeof operations;
type DataOf<O extends OperationId> = Operations[O]['data'];

export type ReadId = { [O in OperationId]: Table[O][0] extends 'GET' ? O : never }[OperationId];

export type Params<O extends OperationId> = O extends OperationId
  ? DataOf<O> extends { path: infer P }
    ? P
    : Record<never, never>
  : never;

/** Values that a page may give for a parameter of this type. */
type LooseValue<V> = V extends readonly (infer E)[]
  ? readonly E[]
  : V extends 'true' | 'false'
    ? V | boolean
    : V;

/** Parameters of a query as pages have them: absent and empty ones are left out of the address. */
type Loose<Q> = { [K in keyof Q]?: LooseValue<Q[K]> | null | '' };

export type QueryOf<O extends OperationId> = O extends OperationId
  ? DataOf<O> extends { query?: infer Q }
    ? Loose<NonNullable<Q>>
    : never
  : never;

/** A body, whose lists may be read-only. */
type Sendable<B> = B extends Blob | File
  ? B
  : B extends readonly (infer E)[]
    ? readonly Sendable<E>[]
    : B extends object
      ? { [K in keyof B]: Sendable<B[K]> }
      : B;

export type Body<O extends OperationId> = O extends OperationId
  ? Sendable<NonNullable<DataOf<O>['body']>>
  : never;

export type Output<O extends OperationId> = Operations[O]['reply'];

type Versioned<O extends OperationId> =
  DataOf<O> extends { headers?: infer H } ? ('If-Match' extends keyof NonNullable<H> ? true : false) : false;

/** The content of a request: the body and the ETag are required if the operation takes them. */
type Input<O extends OperationId> = {
  query?: QueryOf<O>;
  signal?: AbortSignal;
  /** Milliseconds until the request counts as lost, if it may take longer than others. */
  limit?: number;
  /** For steps that are sent again together: one key for as long as the page is open. */
  idempotencyKey?: string;
} & (DataOf<O> extends { body: unknown } ? { body: Body<O> } : { body?: Body<O> }) &
  // The ETag of the version that the change is based on: 412 if someone else changed it. null: whatever the version.
  (Versioned<O> extends true ? { ifMatch: string | null } : { ifMatch?: never });

/** The last argument of a request: it may be absent if the operation requires nothing. */
export type InputOf<O extends OperationId> =
  Record<never, never> extends Input<O> ? [input?: Input<O>] : [input: Input<O>];

/** The lowest role of an operation; null if the API does not have it. */
export const leastRoleOf = (operation: OperationId): Table[OperationId][2] | null =>
  operations[operation]?.[2] ?? null;

export const methodOf = (operation: OperationId): string => operations[operation][0];

/** Tells if the operation makes nothing twice when it is sent again with the same `Idempotency-Key`. */
export const takesKey = (operation: OperationId): boolean => operations[operation].length > 3;

/** The address of an operation, below the origin, for requests, downloads and links. */
export const addressOf = <O extends OperationId>(
  operation: O,
  params: Params<O>,
  query?: QueryOf<O>,
): string =>
  withQuery(
    operations[operation][1].replace(/\{(\w+)\}/g, (_all, name: string) =>
      encodeURIComponent(String((params as Record<string, unknown>)[name])),
    ),
    query as Query,
  );

/** A read by its operation and whole address. */
export type Read = readonly [operation: ReadId, address: string];

export const readOf = <O extends ReadId>(operation: O, params: Params<O>, query?: QueryOf<O>): Read => [
  operation,
  addressOf(operation, params, query),
];

/** The whole address of an operation, for commands. `baseUrl` is that of the API: `https://host/api/v2`. */
export const urlOf = <O extends OperationId>(
  baseUrl: string,
  operation: O,
  params: Params<O>,
  query?: QueryOf<O>,
): string => {
  const address = addressOf(operation, params, query);
  const inApi = /^\/api\/v2(?=\/)/;
  return inApi.test(address) ? address.replace(inApi, baseUrl) : `${new URL(baseUrl).origin}${address}`;
};
