import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Database } from '../database/index.ts';
import type { Vault } from '../lib/crypto.ts';
import type { Logger } from '../lib/log.ts';
import type { Principal, RequiredRole, Scope } from '../lib/principal.ts';
import type { Base } from './addresses.ts';
import type { CallerRequest } from './context.ts';
import type { ShownFailure } from './failure.ts';
import type { HookRoute } from './hook-route.ts';
import type { RawRoute } from './raw.ts';
import type { Site } from './site.ts';

export type Json = Record<string, unknown>;
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The members that routes of every kind have. */
export interface Operation {
  /** The operationId: camel case and unique. */
  id: string;
  /** The least role that may call it. `permissions.md` lists those of all operations. */
  role: RequiredRole;
  /**
   * The scope that a key with scopes needs; null: none, because the operation concerns the caller alone. The permission
   * table and the documents show it.
   */
  scope: Scope | null;
  /** The method, and the path relative to its base, with parameters in braces: `GET /agents/{agent_id}`. */
  request: `${Method} ${string}`;
  /** Verb and noun: `Create an agent`. */
  summary: string;
  description?: string;
  /** `public` (default): under /api/v2 and /api/v1. `v2` and `v1`: under that one only. `app`: under /app/api. */
  base?: 'public' | 'v2' | 'v1' | 'app';
  /** Statuses that the handler can cause besides those of its kind, for the document. */
  otherStatuses?: readonly (400 | 401 | 403 | 404 | 412 | 422)[];
}

/** Loads what the path names. Throws its 404s and 400s. */
export type Find<F> = (request: { params: Record<string, string>; principal: Principal }) => Promise<F>;

/** One admitted request, and the parts of the server that serving it needs. */
export interface Call {
  request: FastifyRequest;
  reply: FastifyReply;
  db: Database;
  vault: Vault;
  log: Logger;
  /** Aborted when the server stops. */
  stopping: AbortSignal;
  /** Takes one request from the bucket of a principal; throws 429. */
  limitRate: (principal: Principal) => void;
  /** Throws 401, 403 or 404 if the caller has lost access. */
  recheck: () => Promise<void>;
}

/** A route of any kind, as the server mounts it. */
export interface Route extends Pick<Operation, 'id' | 'role' | 'scope'> {
  method: Method;
  path: string;
  bases: readonly Base[];
  /** Called before query and body are read, and again while a caller waits. */
  find?: Find<unknown>;
  /** Called before the role is checked and the body is read. */
  admission: {
    /** Only a bearer token counts, no cookie. */
    bearerOnly?: boolean;
    /** Failures count against the address of the caller; only its much larger bucket comes before the body. */
    checksCredential?: boolean;
    /** Throws 403 for a request whose headers forbid it. */
    checkOrigin?: (request: CallerRequest) => void;
    /** Nothing may store the response, not even that of a failure. */
    noStore?: boolean;
  };
  /** A form with a file is read by the route. `largest`: in bytes; default 10 MiB. */
  body?: { upload?: 'form' | 'formOrJson' | undefined; largest?: number | undefined };
  /** Methods that reach the route as well; the document does not list them. */
  moreMethods?: readonly Method[];
  /** A HEAD must change nothing, and a redirect begins or ends a sign-in: there is none. */
  isRedirect?: boolean;
  /** Returns the page that a browser shows for a failure. Clients that accept JSON get the error body. */
  failurePage?: ((failure: ShownFailure) => string) | undefined;
  /** Sends the response, or throws the error that becomes the error body. */
  serve: (call: Call) => Promise<void>;
  /** Returns the operation of the OpenAPI document. Named schemas go to `components`. */
  describe: (components: Json, tags: string[]) => Json;
}

/** The routes of one feature, which the OpenAPI documents group under its tag. */
export interface RouteGroup {
  tag?: { name: string; description: string };
  routes?: readonly Route[];
  rawRoutes?: readonly RawRoute[];
  hooks?: readonly HookRoute[];
  /** Pages and files for browsers, at paths that no route has. */
  site?: Site;
}

/** The method and the path of an operation. */
export const requestOf = ({ request }: Pick<Operation, 'request'>): { method: Method; path: string } => {
  const [method, path] = request.split(' ') as [Method, string];
  return { method, path };
};

const basesOf = ({ base }: Operation): readonly Base[] => {
  if (base === 'app') return ['/app/api'];
  return base === 'v2' || base === 'v1' ? [`/api/${base}`] : ['/api/v2', '/api/v1'];
};

/** Makes the route of an operation from what its kind adds. */
export const routeOf = (
  operation: Operation,
  own: Omit<Route, 'id' | 'role' | 'scope' | 'method' | 'path' | 'bases' | 'admission'> &
    Partial<Pick<Route, 'admission'>>,
): Route => {
  const { id, role, scope } = operation;
  return { id, role, scope, ...requestOf(operation), bases: basesOf(operation), admission: {}, ...own };
};
