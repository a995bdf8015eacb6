import type { IncomingHttpHeaders } from 'node:http';
import type { z } from 'zod';
import type { Tx } from '../database/index.ts';
import type { Actor, Principal, RequiredRole, Scope } from '../lib/principal.ts';
import type { Base } from './addresses.ts';
import type { PartFailure, ShownFailure } from './failure.ts';
import type { RawRoute } from './raw.ts';
import type { Site } from './site.ts';
import type { Upload, UploadSpec } from './upload.ts';

/** What a handler receives. Type parameters: what `find` loaded, the parsed query, the parsed body. */
export interface Context<F = unknown, Q = unknown, B = unknown> {
  principal: Principal;
  /** The principal and the request, for the audit log. */
  actor: Actor;
  headers: IncomingHttpHeaders;
  /** Whether the request comes from a page of this server (`isOwnPage`). */
  ownPage(): boolean;
  /** The decoded parameters of the path. */
  params: Record<string, string>;
  /** One of `web.methods`, or that of the route. */
  method: string;
  query: Q;
  body: B;
  /** The body as it was sent; undefined without one. For a route with `web`: others have `body`. */
  bytes: Buffer | undefined;
  /** The file of the form. For a route with `upload`; one with `body` too checks which of them there is. */
  upload: Upload;
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
  /** Takes one request from the bucket of a principal whose credential the handler checked; throws 429. */
  limitRate(principal: Principal): void;
  /** Makes the response a 202: what was asked for goes on after it. The route has `mayAccept`. */
  accepted(): void;
  /** Sets a header of the response; a list sets it several times. */
  header(name: string, value: string | string[]): void;
  /** Aborted when the client leaves before the end of the response, or has lost access. */
  left: AbortSignal;
  /** The same, and aborted when the server stops: for handlers that wait. */
  signal: AbortSignal;
  /** Throws 401, 403 or 404 if the caller has lost access since the request began. */
  checkAccess(): Promise<void>;
  /** The error of one part of the request, for a response that has one for each part; it is logged. */
  failureOf(error: unknown): PartFailure;
}

interface RouteSpec<F, Q extends z.ZodType, B extends z.ZodType, A extends z.ZodType> {
  /** The operationId: camel case and unique. */
  id: string;
  /** The least role that may call it. `permissions.md` lists those of all operations. */
  role: RequiredRole;
  /**
   * What a key with scopes must have; null: nothing, because the operation concerns the caller alone. The permission
   * table and the documents show it.
   */
  scope: Scope | null;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Relative to its base, with parameters in braces: `/agents/{agent_id}`. */
  path: string;
  /** Verb and noun: `Create an agent`. */
  summary: string;
  description?: string;
  /** `public` (default): under /api/v2 and /api/v1. `v2` and `v1`: under that one only. `app`: under /app/api. */
  base?: 'public' | 'v2' | 'v1' | 'app';
  /**
   * The handler of an operation for anyone checks a credential: its 400s, 401s and 422s count against the address of the
   * caller, so that a valid one is not refused because of those who guess behind the same address. Only the much larger
   * bucket of all such requests of the address comes before the body.
   */
  checksCredential?: boolean;
  /** Only a bearer token counts, no cookie: the route is for programs. */
  bearerOnly?: boolean;
  /** Throws 403 for a request whose headers forbid it, before the role is checked and anything else of it is read. */
  checkOrigin?: (request: Pick<Context, 'headers' | 'ownPage'>) => void;
  /** Loads what the path names, and throws its 404s and 400s, before query and body are read. */
  find?: (request: { params: Record<string, string>; principal: Principal }) => Promise<F>;
  /**
   * The handler locks what the path names, with the same 404s and 400s, so `find` is only called if query or body are
   * refused, and `found` is undefined: a create saves a round trip to the database.
   */
  handlerFinds?: boolean;
  query?: Q;
  /**
   * The query is whatever a browser was sent with: its schema accepts everything, and text that cannot be stored is no
   * fault.
   */
  anyQuery?: boolean;
  body?: B;
  /** `form`: the body is `application/x-www-form-urlencoded`, with each field once. Default: JSON. */
  bodyType?: 'form';
  /**
   * The body is a form with a file, which is on the disk when the handler begins. No transaction is open until then.
   * With `body` as well, JSON is taken instead: of `upload` and `body` the handler has one.
   */
  upload?: UploadSpec;
  /** The largest body, in bytes. Default: 10 MiB. An operation for anyone with a body needs one. */
  largestBody?: number;
  /** The request may have no body. */
  bodyOptional?: boolean;
  /** The list in the body whose items the handler checks one by one (`validate`), so that a bad one is not a fault of the others. */
  partsField?: string;
  /** Fields of the body whose every fault is a 400 instead of a 422, because the description says so. */
  badRequestFields?: readonly string[];
  /**
   * Checks a well-formed body for faults that its schema cannot find and that are a 400 (payload size). It runs before
   * the schema, because 400 wins over 422. Also for a 403 that depends on the body. Throws an ApiError.
   */
  checkBody?: (body: Record<string, unknown>, principal: Principal) => Promise<void> | void;
  /** The status of success; default 200. A 204 and a 303 have no body. */
  status?: 200 | 201 | 202 | 204 | 303;
  response?: A;
  /** The handler may make the response a 202 (`accepted`). */
  mayAccept?: boolean;
  /**
   * The media type of a response that is streamed: the handler resolves to an AsyncIterable of texts or bytes. The
   * stream ends early when the caller loses access.
   */
  stream?: string;
  /** The name under which a browser saves the stream as a file. */
  saveAs?: string;
  /** The handler resolves to a `FileDownload`, whose bytes are sent to be saved as a file. */
  download?: boolean;
  /** The handler may resolve to null, which is a 204 without a body. */
  orNothing?: boolean;
  /**
   * The route speaks a protocol of its own over HTTP: its handler reads `bytes` itself, and resolves to the web Response
   * (Fetch Standard) that is sent as it is. A stream in it ends early when the caller loses access.
   */
  web?: {
    /** Methods that reach the handler as well. The document does not list them. */
    methods: readonly ('GET' | 'PUT' | 'PATCH' | 'DELETE')[];
    /** What the document says of the body and of the responses, as no schema gives it. */
    operation: { requestBody?: Record<string, unknown>; responses: Record<string, unknown> };
  };
  /** Nothing may store the response: it sets a cookie, or says who has access. */
  noStore?: boolean;
  /** Returns the page that a browser shows for a failure. Clients that accept JSON get the error body. */
  failurePage?: (failure: ShownFailure) => string;
  /** Other statuses that the handler can cause, for the document. */
  otherStatuses?: readonly (400 | 401 | 403 | 404 | 412 | 422)[];
  /** The route takes an `Idempotency-Key`. The handler must do its work in `transaction`. */
  idempotent?: boolean;
  /**
   * A request whose `If-None-Match` names what the response would be gets 304 instead. `true`: the tag is made of the
   * whole response; a function returns what it is made of, for a response with parts that always change.
   */
  conditional?: true | ((response: z.output<A>) => unknown);
  /** The response has an ETag. A route that changes an existing resource also takes an `If-Match`. */
  etag?: boolean;
  handler: (context: Context<F, z.output<Q>, z.output<B>>) => Promise<z.input<A> | null>;
}

/** A route as a value in a list, without its own types. */
export type Route = RouteSpec<unknown, z.ZodType, z.ZodType, z.ZodType>;

/** The routes of one feature, which the OpenAPI documents group under its tag. */
export interface RouteGroup {
  tag?: { name: string; description: string };
  routes?: readonly Route[];
  rawRoutes?: readonly RawRoute[];
  /** What browsers get at paths that no route has. */
  site?: Site;
}

/** The bases under which a route is served. */
export const basesOf = (route: Route): readonly Base[] => {
  if (route.base === 'app') return ['/app/api'];
  if (route.base === 'v2' || route.base === 'v1') return [`/api/${route.base}`];
  return ['/api/v2', '/api/v1'];
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
