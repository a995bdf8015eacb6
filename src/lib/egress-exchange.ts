import type { Dispatcher } from 'undici';

/** The reason why there is no response. The message of the error contains no url, header or body. */
export type EgressFailure = 'denied' | 'dns' | 'proxy' | 'connect' | 'tls' | 'timeout' | 'closed';

export class EgressError extends Error {
  readonly kind: EgressFailure;
  constructor(kind: EgressFailure, message: string) {
    super(message);
    this.name = 'EgressError';
    this.kind = kind;
  }
}

export interface EgressResponse {
  status: number;
  /** Names are in lower case. The values of a header that was sent more than once are joined with `, `. */
  headers: Record<string, string>;
  body: Buffer;
  /** The body was longer, and was cut off. */
  truncated: boolean;
}

const tlsCodes = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'HOSTNAME_MISMATCH',
  'INVALID_CA',
  'INVALID_PURPOSE',
  'EPROTO',
]);
/** Returns whether an error of Node with this code is about TLS: a certificate, a name, a version. */
export const isTlsCode = (code: string): boolean =>
  tlsCodes.has(code) || /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|CRL_)/.test(code);

/**
 * Returns an EgressError that names the failure by its code only: messages of sockets and parsers can contain what was
 * sent.
 */
export const failureOf = (error: unknown): EgressError => {
  if (error instanceof EgressError) return error;
  const { code: ownCode, cause, name } = (error ?? {}) as { code?: unknown; cause?: unknown; name?: string };
  if (cause instanceof EgressError) return cause;
  const code =
    typeof ownCode === 'string' ? ownCode : String((cause as { code?: unknown } | undefined)?.code ?? '');
  if (name === 'TimeoutError' || /TIMEOUT|ETIMEDOUT/.test(code)) {
    return new EgressError('timeout', 'no response in time');
  }
  if (isTlsCode(code)) return new EgressError('tls', `TLS failed (${code})`);
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return new EgressError('dns', `the host name was not found (${code})`);
  }
  if (/^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EACCES|EINVAL)$/.test(code)) {
    return new EgressError('connect', `no connection (${code})`);
  }
  return new EgressError('closed', `the connection was closed (${code || name || 'no reason given'})`);
};

const empty = Buffer.alloc(0);

const joinHeaders = (headers: Record<string, string | string[] | undefined>): Record<string, string> => {
  const joined: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) joined[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return joined;
};

/**
 * One request in progress and its response. undici's own `request` creates a stream, two abort signals and a dozen
 * promises for each request, which cost more than sending a small body.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly response: Promise<EgressResponse>;
  readonly #limit: number;
  readonly #timer: NodeJS.Timeout;
  readonly #signal: AbortSignal | undefined;
  readonly #chunks: Buffer[] = [];
  #size = 0;
  #status = 0;
  #headers: Record<string, string> = {};
  #controller: Dispatcher.DispatchController | null = null;
  #ended = false;
  #resolve!: (response: EgressResponse) => void;
  #reject!: (error: EgressError) => void;

  constructor(timeoutMs: number, limit: number, signal: AbortSignal | undefined) {
    this.#limit = limit;
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#timer = setTimeout(() => this.fail(new EgressError('timeout', 'no response in time')), timeoutMs);
    this.#timer.unref();
    this.#signal = signal;
    if (signal?.aborted) this.#aborted();
    else signal?.addEventListener('abort', this.#aborted);
  }

  /** Ends the exchange with an error. A connection on which it was in progress is closed. */
  fail(error: EgressError): void {
    if (!this.#end()) return;
    this.#reject(error);
    this.#controller?.abort(error);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Its time ran out while it waited for a connection.
    if (this.#ended) controller.abort(new EgressError('closed', 'not sent'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // 1xx precedes the response.
    if (status < 200) return;
    this.#status = status;
    this.#headers = joinHeaders(headers);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#ended) return;
    const room = this.#limit - this.#size;
    this.#size += Math.min(room, chunk.length);
    this.#chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
    if (chunk.length <= room) return;
    this.#succeed(true);
    // The rest is not read, so the connection cannot be used again.
    controller.abort(new EgressError('closed', 'cut off'));
  }

  onResponseEnd(): void {
    this.#succeed(false);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(failureOf(error));
  }

  readonly #aborted = (): void => this.fail(new EgressError('closed', 'the connection was closed (aborted)'));

  #succeed(truncated: boolean): void {
    if (!this.#end()) return;
    const body = this.#chunks.length === 0 ? empty : Buffer.concat(this.#chunks);
    this.#resolve({ status: this.#status, headers: this.#headers, body, truncated });
  }

  /** Returns false if it had ended before. */
  #end(): boolean {
    if (this.#ended) return false;
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener('abort', this.#aborted);
    return true;
  }
}
