/** One fault in a request: where (`payload.items[2]`) and what to write instead. */
export interface Fault {
  path: string;
  message: string;
}

/** A request that failed: the API's error, or `code: 'unreachable'` if there was no response. */
export class ApiProblem extends Error {
  readonly status: number;
  readonly code: string;
  readonly errorId: string | null;
  readonly details: Fault[];
  readonly fields: Record<string, unknown>;

  constructor(status: number, fields: Record<string, unknown>) {
    super(String(fields.message ?? ''));
    this.name = 'ApiProblem';
    this.status = status;
    this.code = String(fields.code ?? 'unknown');
    this.errorId = typeof fields.error_id === 'string' ? fields.error_id : null;
    this.details = Array.isArray(fields.details) ? (fields.details as Fault[]) : [];
    this.fields = fields;
  }
}

/** A response: its body, and the ETag to send as `ifMatch` with a change. */
export interface Reply<T> {
  body: T;
  etag: string | null;
}

type QueryValue = string | number | boolean | null | undefined;
/** Query parameters. A list becomes one parameter for each value; null, undefined and '' are left out. */
export type Query = Record<string, QueryValue | readonly QueryValue[]>;

export interface RequestOptions {
  query?: Query;
  body?: unknown;
  /** The ETag of the version that the change is based on; 412 if someone else changed it. */
  ifMatch?: string | null | undefined;
  /** Makes a POST safe to repeat. */
  idempotencyKey?: string | undefined;
  signal?: AbortSignal;
  /** Milliseconds until the request fails as `timeout`: 30 s for a GET, and 2 minutes for what waits for others. */
  limit?: number;
  /** The response goes on: the limit is for its beginning. */
  stream?: boolean;
  headers?: Record<string, string>;
}

export const withQuery = (path: string, query: Query = {}): string => {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined && one !== '') search.append(name, String(one));
    }
  }
  const text = search.toString();
  return text === '' ? path : `${path}?${text}`;
};

const failureListeners = new Set<(problem: ApiProblem) => void>();

export const onFailure = (listener: (problem: ApiProblem) => void): (() => void) => {
  failureListeners.add(listener);
  return () => failureListeners.delete(listener);
};

export const fail = (problem: ApiProblem): never => {
  for (const listener of failureListeners) listener(problem);
  throw problem;
};

/** Reads the error of a response: the API's, or one made from the status if a proxy sent something else. */
const problemOf = async (response: Response): Promise<ApiProblem> => {
  const body = (await response.json().catch(() => null)) as { error?: Record<string, unknown> } | null;
  const error = body?.error ?? { code: 'unknown', message: `${response.status} ${response.statusText}` };
  return new ApiProblem(response.status, error);
};

/** Reports why there was no response, or not all of it. */
const failOf = (error: unknown, signal: AbortSignal | undefined): never => {
  if (signal?.aborted) throw error;
  return fail(new ApiProblem(0, { code: Object(error).name === 'TimeoutError' ? 'timeout' : 'unreachable' }));
};

/** A change may test a connection, or wait for a model. */
const limitOf = (method: string): number => (method === 'GET' ? 30_000 : 120_000);

/** Sends a request. Throws `ApiProblem`, or the `AbortError` of its signal. */
export const send = async (method: string, path: string, options: RequestOptions = {}): Promise<Response> => {
  const { query, body, ifMatch, idempotencyKey, signal } = options;
  const headers: Record<string, string> = { accept: 'application/json', ...options.headers };
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (ifMatch) headers['if-match'] = ifMatch;
  if (idempotencyKey) headers['idempotency-key'] = idempotencyKey;
  const late = new AbortController();
  const timer = setTimeout(
    () => late.abort(new DOMException('no response in time', 'TimeoutError')),
    options.limit ?? limitOf(method),
  );
  let response: Response;
  try {
    response = await fetch(withQuery(path, query), {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      credentials: 'same-origin',
      signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal,
    });
    if (options.stream) clearTimeout(timer);
  } catch (error) {
    clearTimeout(timer);
    return failOf(error, signal);
  }
  if (!response.ok) return fail(await problemOf(response));
  return response;
};

/**
 * Sends a request and reads the JSON of its response. The browser's cache sends `If-None-Match` for responses that have
 * an ETag, so that an unchanged list costs no bytes.
 */
export const request = async <T>(
  method: string,
  path: string,
  options?: RequestOptions,
): Promise<Reply<T>> => {
  const response = await send(method, path, options);
  const text = await response.text().catch((error) => failOf(error, options?.signal));
  return { body: (text === '' ? undefined : JSON.parse(text)) as T, etag: response.headers.get('etag') };
};
