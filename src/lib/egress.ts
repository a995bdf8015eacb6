import { lookup as dnsLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Agent, buildConnector, type Dispatcher, fetch as undiciFetch } from 'undici';

/** Link-local addresses and the metadata services of the clouds: never a place to send customer data to. */
const defaultEgressDeny = ['169.254.0.0/16', 'fe80::/10', 'fd00:ec2::254/128', '100.100.100.200/32'];

/** What went wrong before an answer came. The message holds no url, header or body. */
export type EgressFailure = 'denied' | 'dns' | 'connect' | 'tls' | 'timeout' | 'closed';

export class EgressError extends Error {
  readonly kind: EgressFailure;
  constructor(kind: EgressFailure, message: string) {
    super(message);
    this.name = 'EgressError';
    this.kind = kind;
  }
}

interface EgressRequest {
  method: string;
  headers?: Record<string, string>;
  body?: Buffer | string;
  /** For the whole exchange, from the look-up of the name to the last byte of the answer. */
  timeoutMs: number;
  /** The answer's body is cut off after so many bytes (`truncated`). Default 64 KiB. */
  maxBodyBytes?: number;
  signal?: AbortSignal;
}

export interface EgressResponse {
  status: number;
  /** Names in lower case; a header that came more than once is joined with `, `. */
  headers: Record<string, string>;
  body: Buffer;
  truncated: boolean;
}

export interface Address {
  address: string;
  family: 4 | 6;
}

/** Every connection that leaves the platform goes through one of these (product, section 2, `EGRESS_DENY`). */
export interface Egress {
  /** One HTTP exchange. Redirects are answers like any other. Rejects with EgressError only. */
  request(url: string, options: EgressRequest): Promise<EgressResponse>;
  /**
   * The permitted addresses of a host name or address literal (IPv6 also in brackets), for connections that are
   * not HTTP: connect to one of these. Rejects with EgressError `denied` or `dns`.
   */
  resolve(host: string): Promise<Address[]>;
  /** For libraries that want a `fetch`; redirects are not followed. */
  fetch: typeof globalThis.fetch;
  close(): Promise<void>;
}

type Cidr = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Parses CIDR lists; throws with the entry that is wrong. A bare address stands for itself. */
export const parseCidrs = (list: readonly string[]): Cidr[] =>
  list.map((entry) => {
    try {
      if (entry.includes('/')) return ipaddr.parseCIDR(entry);
      const address = ipaddr.parse(entry);
      return [address, address.kind() === 'ipv4' ? 32 : 128];
    } catch {
      throw new Error(`"${entry}" is not a CIDR range such as 10.0.0.0/8 or fd00::/8`);
    }
  });

/** The address that packets in fact go to: IPv4 inside IPv6 (mapped, or NAT64's 64:ff9b::/96) is IPv4. */
const destinationOf = (text: string): ipaddr.IPv4 | ipaddr.IPv6 => {
  const address = ipaddr.parse(text.split('%')[0]!);
  if (address instanceof ipaddr.IPv6) {
    if (address.isIPv4MappedAddress()) return address.toIPv4Address();
    if (address.range() === 'rfc6052') return new ipaddr.IPv4(address.toByteArray().slice(12));
  }
  return address;
};

const within = (address: ipaddr.IPv4 | ipaddr.IPv6, ranges: Cidr[]): boolean =>
  ranges.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits));

const tlsCodes = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'HOSTNAME_MISMATCH',
  'INVALID_CA',
  'INVALID_PURPOSE',
  'EPROTO',
]);
const isTlsCode = (code: string): boolean =>
  tlsCodes.has(code) || /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|CRL_)/.test(code);

/** Names the failure by its code alone: messages of sockets and parsers can hold what was sent. */
const failureOf = (error: unknown): EgressError => {
  if (error instanceof EgressError) return error;
  const { code: ownCode, cause, name } = (error ?? {}) as { code?: unknown; cause?: unknown; name?: string };
  if (cause instanceof EgressError) return cause;
  const code =
    typeof ownCode === 'string' ? ownCode : String((cause as { code?: unknown } | undefined)?.code ?? '');
  if (name === 'TimeoutError' || /TIMEOUT|ETIMEDOUT/.test(code)) {
    return new EgressError('timeout', 'no answer in time');
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

const joinHeaders = (headers: Record<string, string | string[] | undefined>): Record<string, string> => {
  const joined: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) joined[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return joined;
};

/**
 * One request under way and its answer. undici's own `request` makes a stream, two abort signals and a dozen
 * promises of each, which cost more than sending a small body.
 */
class Exchange implements Dispatcher.DispatchHandler {
  readonly answer: Promise<EgressResponse>;
  readonly #limit: number;
  readonly #timer: NodeJS.Timeout;
  readonly #signal: AbortSignal | undefined;
  readonly #chunks: Buffer[] = [];
  #size = 0;
  #status = 0;
  #headers: Record<string, string> = {};
  #controller: Dispatcher.DispatchController | null = null;
  #ended = false;
  #resolve!: (answer: EgressResponse) => void;
  #reject!: (error: EgressError) => void;

  constructor(timeoutMs: number, limit: number, signal: AbortSignal | undefined) {
    this.#limit = limit;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#timer = setTimeout(() => this.fail(new EgressError('timeout', 'no answer in time')), timeoutMs);
    this.#timer.unref();
    this.#signal = signal;
    if (signal?.aborted) this.#aborted();
    else signal?.addEventListener('abort', this.#aborted);
  }

  /** Ends the exchange; a connection with half of it on it is closed. */
  fail(error: EgressError): void {
    if (!this.#end()) return;
    this.#reject(error);
    this.#controller?.abort(error);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // It waited for a connection, and meanwhile its time was over.
    if (this.#ended) controller.abort(new EgressError('closed', 'not sent'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // 1xx comes before the answer.
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
    // The rest is not read, so nothing more can be asked on this connection.
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

  /** False where it had ended before. */
  #end(): boolean {
    if (this.#ended) return false;
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener('abort', this.#aborted);
    return true;
  }
}

const empty = Buffer.alloc(0);

/**
 * Outgoing HTTP under the CIDR rules. The name is looked up here, its addresses are checked, and the socket
 * connects to what was checked, so that a name that changes between check and connect gains nothing.
 * `allow` wins over `deny`. Throws where a list cannot be parsed.
 */
export const createEgress = (rules: {
  deny?: readonly string[];
  allow?: readonly string[];
  /** Certificates to trust besides Node's (PEM). */
  ca?: string | string[];
}): Egress => {
  const deny = parseCidrs(rules.deny ?? defaultEgressDeny);
  const allow = parseCidrs(rules.allow ?? []);
  const permitted = (text: string): boolean => {
    const address = destinationOf(text);
    // Packets to the unspecified address go to this machine.
    const loopback = ipaddr.parse(address.kind() === 'ipv4' ? '127.0.0.1' : '::1');
    const places = address.range() === 'unspecified' ? [address, loopback] : [address];
    return places.some((one) => within(one, allow)) || !places.some((one) => within(one, deny));
  };
  const denied = () =>
    new EgressError('denied', 'the address of this host is not permitted (EGRESS_DENY, EGRESS_ALLOW)');

  const lookup: LookupFunction = (hostname, options, callback) => {
    dnsLookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, []);
      const good = found.filter(({ address }) => permitted(address));
      if (good.length === 0) return callback(denied(), []);
      if (options.all) callback(null, good);
      else callback(null, good[0]!.address, good[0]!.family);
    });
  };
  const connector = buildConnector({
    lookup,
    autoSelectFamily: true,
    allowH2: false,
    timeout: 10_000,
    ...(rules.ca === undefined ? {} : { ca: rules.ca }),
  } as buildConnector.BuildOptions);
  const agent = new Agent({
    allowH2: false,
    // Whoever asks says how long an answer may take: a model may think for longer than any default.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (options, callback) => {
      // An address literal is never looked up.
      if (isIP(options.hostname) !== 0 && !permitted(options.hostname)) callback(denied(), null);
      else connector(options, callback);
    },
  });

  const resolve = (host: string): Promise<Address[]> =>
    new Promise((done, fail) => {
      const bare = host.replace(/^\[(.*)\]$/, '$1');
      const family = isIP(bare);
      if (family !== 0) {
        if (permitted(bare)) done([{ address: bare, family: family as 4 | 6 }]);
        else fail(denied());
        return;
      }
      lookup(bare, { all: true }, (error, found) => {
        if (error) fail(failureOf(error));
        else done(found as Address[]);
      });
    });

  return {
    resolve,
    request: async (url, { method, headers, body, timeoutMs, maxBodyBytes = 65_536, signal }) => {
      const exchange = new Exchange(timeoutMs, maxBodyBytes, signal);
      try {
        const { origin, pathname, search } = new URL(url);
        const sent = { origin, path: pathname + search, method, headers: headers ?? {}, body: body ?? null };
        agent.dispatch(sent as Dispatcher.DispatchOptions, exchange);
      } catch (error) {
        exchange.fail(failureOf(error));
      }
      return exchange.answer;
    },
    fetch: ((input: never, init?: object) =>
      undiciFetch(input, { ...init, dispatcher: agent, redirect: 'manual' })) as typeof globalThis.fetch,
    close: () => agent.destroy(),
  };
};
