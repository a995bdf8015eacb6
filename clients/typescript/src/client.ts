import { ApiError } from './errors.ts';
import type { Operations } from './operations.gen.ts';
import { operations } from './operations.gen.ts';
import { readEvents, type StreamEvent } from './stream.ts';
import { retryDelay, sleep } from './waiting.ts';

export interface ClientOptions {
  /** The address of the platform, without a path: `https://agents.example`. */
  url: string;
  /** An API key. */
  key: string;
  /** How often a request is sent at most. Default 5. */
  tries?: number;
  /** How long one try may take until its response begins, in milliseconds. Default 120,000. */
  timeout?: number;
  /** Default: the global one. */
  fetch?: typeof fetch;
}

export type OperationName = keyof Operations;
type Defined<T> = {
  [K in keyof T as K extends 'url' ? never : [T[K]] extends [undefined] ? never : K]: T[K];
};
/** What an operation takes: `path`, `query`, `headers` and `body`, and a `signal` that ends it. */
export type Input<N extends OperationName> = Defined<Operations[N]['input']> & { signal?: AbortSignal };
type Parameters<N extends OperationName> =
  Record<never, never> extends Input<N> ? [input?: Input<N>] : [input: Input<N>];

/** Every operation of openapi.json by its `operationId`. Throws {@link ApiError} if the platform refuses. */
export type Client = {
  [N in OperationName]: (
    ...input: Parameters<N>
  ) => Operations[N] extends { stream: true }
    ? AsyncGenerator<StreamEvent, void>
    : Promise<Operations[N]['output']>;
} & {
  /** The same request, but the whole response: for its ETag, or for a body that is read in pieces. */
  fetch<N extends OperationName>(name: N, ...input: Parameters<N>): Promise<Response>;
};

interface AnyInput {
  path?: Record<string, string>;
  query?: Record<string, unknown>;
  headers?: Record<string, string>;
  body?: unknown;
  signal?: AbortSignal;
}

type Body = NonNullable<RequestInit['body']>;

const isBinary = (body: unknown): body is Blob | Uint8Array =>
  body instanceof Blob || body instanceof Uint8Array;

/** A body with a file becomes a form, as multipart/form-data asks; bytes go as they are; all else is JSON. */
const encode = (body: unknown, headers: Headers): Body | undefined => {
  if (body === undefined) return undefined;
  if (body instanceof FormData) return body;
  if (isBinary(body)) {
    if (!headers.has('content-type')) headers.set('content-type', 'application/x-protobuf');
    return body as Body;
  }
  const fields = Object.entries(body as object);
  if (fields.some(([, value]) => isBinary(value))) {
    const form = new FormData();
    for (const [name, value] of fields) {
      if (isBinary(value))
        form.append(name, value instanceof Blob ? value : new Blob([value as Uint8Array<ArrayBuffer>]));
      else if (value !== undefined)
        form.append(name, typeof value === 'string' ? value : JSON.stringify(value));
    }
    return form;
  }
  headers.set('content-type', 'application/json');
  return JSON.stringify(body);
};

const decode = async (response: Response, download: boolean): Promise<unknown> => {
  if (response.status === 204) return undefined;
  if (download) return response.blob();
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  return isJson ? response.json() : response.text();
};

/** Makes a client. It sends nothing before its first operation. */
export const createClient = (options: ClientOptions): Client => {
  const { url, key, tries = 5, timeout = 120_000 } = options;
  const base = `${url.replace(/\/+$/, '')}/api/v2`;
  const send = options.fetch ?? fetch;

  const addressOf = (name: OperationName, { path, query }: AnyInput): string => {
    const filled = operations[name].path.replace(/\{(\w+)\}/g, (_, part) => {
      // An empty part would be the address of another operation.
      if (!path?.[part]) throw new TypeError(`${name} needs path.${part}.`);
      return encodeURIComponent(path[part]);
    });
    const search = new URLSearchParams();
    for (const [field, value] of Object.entries(query ?? {}))
      for (const one of [value].flat()) if (one !== undefined) search.append(field, String(one));
    return search.size ? `${base}${filled}?${search}` : base + filled;
  };

  const request = async (name: OperationName, input: AnyInput = {}): Promise<Response> => {
    const { method, key: takesKey }: { method: string; key?: true } = operations[name];
    const address = addressOf(name, input);
    const headers = new Headers({ authorization: `Bearer ${key}`, ...input.headers });
    // With a key, the platform carries the request out once, however often it arrives.
    if (takesKey && !headers.has('idempotency-key')) headers.set('idempotency-key', crypto.randomUUID());
    const repeatable = takesKey || ['GET', 'PUT', 'DELETE'].includes(method);
    const body = encode(input.body, headers);
    for (let n = 1; ; n++) {
      const limit = new AbortController();
      const timer = setTimeout(
        () => limit.abort(new DOMException(`No response within ${timeout} ms.`, 'TimeoutError')),
        timeout,
      );
      const signal = input.signal ? AbortSignal.any([input.signal, limit.signal]) : limit.signal;
      let delay: number | undefined;
      try {
        const response = await send(address, {
          method,
          headers,
          signal,
          ...(body !== undefined && { body }),
        });
        if (response.ok) return response;
        // 429 was refused before anything happened. After another failure it may have happened.
        if (response.status === 429 || (repeatable && [502, 503, 504].includes(response.status)))
          delay = retryDelay(n, response.headers.get('retry-after'));
        if (delay === undefined || n >= tries) throw await ApiError.of(response);
        await response.body?.cancel();
      } catch (error) {
        if (error instanceof ApiError || input.signal?.aborted || !repeatable || n >= tries) throw error;
        delay = retryDelay(n, null);
      } finally {
        clearTimeout(timer);
      }
      await sleep(delay, input.signal);
    }
  };

  async function* follow(name: OperationName, input: AnyInput = {}): AsyncGenerator<StreamEvent, void> {
    const { path } = operations[name];
    const again = Object.entries(operations).find(([, one]) => one.method === 'GET' && one.path === path)![0];
    const { body: _, ...rest } = input;
    let last = input.headers?.['Last-Event-ID'];
    for (let next: OperationName = name; ; next = again as OperationName) {
      const headers = { ...input.headers, ...(last !== undefined && { 'Last-Event-ID': last }) };
      const response = await request(next, { ...(next === name ? input : rest), headers });
      if (response.status === 204 || !response.body) return;
      const before = last;
      const retry = yield* readEvents(
        response.body,
        (id) => {
          last = id;
        },
        input.signal,
      );
      if (retry === 'completed') return;
      // At once, if this connection brought anything.
      if (last === before) await sleep(retry, input.signal);
    }
  }

  const methods = Object.fromEntries(
    Object.entries(operations).map(([name, operation]) => [
      name,
      'stream' in operation
        ? (input?: AnyInput) => follow(name as OperationName, input)
        : async (input?: AnyInput) =>
            decode(await request(name as OperationName, input), 'download' in operation),
    ]),
  );
  return { ...methods, fetch: request } as unknown as Client;
};
