import { connect } from 'node:net';

export interface ClientResponse {
  status: number;
  headers: Headers;
  /** The parsed JSON; undefined if the body is empty or no JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the body as the contract has it, and fails if it is not
  body: any;
  text: string;
}

export interface RequestOptions {
  /** Added to the client's own; null takes one away (`{authorization: null}`). */
  headers?: Record<string, string | null>;
  signal?: AbortSignal;
}

export interface Client {
  get(path: string, options?: RequestOptions): Promise<ClientResponse>;
  /** `body` is sent as JSON; nothing is sent if it is undefined. */
  post(path: string, body?: unknown, options?: RequestOptions): Promise<ClientResponse>;
  put(path: string, body?: unknown, options?: RequestOptions): Promise<ClientResponse>;
  patch(path: string, body?: unknown, options?: RequestOptions): Promise<ClientResponse>;
  delete(path: string, options?: RequestOptions): Promise<ClientResponse>;
  /** Any method, and a body that is sent as it is, without a content type unless `options` gives one. */
  raw(
    method: string,
    path: string,
    body?: string | Uint8Array,
    options?: RequestOptions,
  ): Promise<ClientResponse>;
}

/**
 * Requests to the paths below `baseUrl` (`http://127.0.0.1:8080/api/v2`), with `key` as bearer. Every status is a
 * response; only a failed connection, or no response within 30 s, throws.
 */
export function client(baseUrl: string, key?: string): Client {
  async function send(
    method: string,
    path: string,
    body: string | Uint8Array | undefined,
    own: Record<string, string>,
    options: RequestOptions,
  ): Promise<ClientResponse> {
    const headers = new Headers(own);
    if (key !== undefined) headers.set('authorization', `Bearer ${key}`);
    for (const [name, value] of Object.entries(options.headers ?? {}))
      if (value === null) headers.delete(name);
      else headers.set(name, value);
    const response = await fetch(baseUrl + path, {
      method,
      headers,
      // Bytes, because fetch would add a content type of its own for a string.
      body: typeof body === 'string' ? Buffer.from(body) : (body as Uint8Array<ArrayBuffer> | undefined),
      redirect: 'manual',
      signal: options.signal ?? AbortSignal.timeout(90_000),
    });
    const text = await response.text();
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      // Not every response is JSON: a test that expects JSON sees undefined.
    }
    return { status: response.status, headers: response.headers, body: parsed, text };
  }
  const withJson =
    (method: string) =>
    (path: string, body?: unknown, options: RequestOptions = {}): Promise<ClientResponse> =>
      body === undefined
        ? send(method, path, undefined, {}, options)
        : send(method, path, JSON.stringify(body), { 'content-type': 'application/json' }, options);
  return {
    get: (path, options = {}) => send('GET', path, undefined, {}, options),
    post: withJson('POST'),
    put: withJson('PUT'),
    patch: withJson('PATCH'),
    delete: (path, options = {}) => send('DELETE', path, undefined, {}, options),
    raw: (method, path, body, options = {}) => send(method, path, body, {}, options),
  };
}

export interface RawResponse {
  /** Of the first response; 0 if the connection ended without one. */
  status: number;
  /** Names in lower case; the last value of a repeated one. */
  headers: Record<string, string>;
  /** What follows the first header block, as it arrived: a chunked body with its chunk sizes, later responses too. */
  text: string;
  /** Whether the server closed the connection. If not, the first response is complete. */
  closed: boolean;
}

/** The status, headers and rest of `data` if its header block is complete. */
function parse(data: string): Omit<RawResponse, 'closed'> | null {
  const end = data.indexOf('\r\n\r\n');
  if (end === -1) return null;
  const [first, ...lines] = data.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.split(':', 1)[0]!.toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  return { status: Number(first!.split(' ')[1]), headers, text: data.slice(end + 4) };
}

/**
 * Sends `bytes` as they are to `port` on 127.0.0.1, for what no HTTP client would send. Resolves when the first
 * response is complete (by its length, its last chunk, or a status without a body) or the server closes; rejects when
 * neither happens within `timeoutMs`.
 */
export function rawRequest(
  port: number,
  bytes: string | Uint8Array,
  timeoutMs = 10_000,
): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    let data = '';
    const socket = connect(port, '127.0.0.1', () => void socket.write(bytes));
    const timer = setTimeout(() => {
      socket.destroy();
      reject(
        new Error(`no complete response within ${timeoutMs} ms, only ${JSON.stringify(data.slice(0, 500))}`),
      );
    }, timeoutMs);
    const finish = (closed: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ ...(parse(data) ?? { status: 0, headers: {}, text: data }), closed });
    };
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      data += chunk;
      const response = parse(data);
      if (!response || response.status < 200) return;
      const length = response.headers['content-length'];
      const complete =
        response.headers['transfer-encoding'] === 'chunked'
          ? response.text.endsWith('0\r\n\r\n')
          : length !== undefined
            ? response.text.length >= Number(length)
            : response.status === 204 || response.status === 304;
      // A server that announces a close closes right after its response: wait for that, so that `closed` is right.
      if (complete && response.headers.connection !== 'close') finish(false);
    });
    socket.on('close', () => finish(true));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') {
        clearTimeout(timer);
        reject(error);
      } else finish(true);
    });
  });
}
