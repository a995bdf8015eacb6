import { lookup as dnsLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector, DecoratorHandler, type Dispatcher, fetch as undiciFetch } from 'undici';
import { createAddressFilter } from './egress-addresses.ts';
import { EgressError, type EgressResponse, Exchange, failureOf } from './egress-exchange.ts';

export { EgressError, type EgressResponse } from './egress-exchange.ts';

interface EgressRequest {
  method: string;
  headers?: Record<string, string>;
  body?: Buffer | string;
  /** For the whole exchange, from the look-up of the name to the last byte of the response. */
  timeoutMs: number;
  /** The body of the response is cut off after this many bytes (`truncated`). Default 64 KiB. */
  maxBodyBytes?: number;
  signal?: AbortSignal;
}

export interface Address {
  address: string;
  family: 4 | 6;
}

/** Every connection that leaves the platform goes through an Egress, which `EGRESS_DENY` limits. */
export interface Egress {
  /** Sends one HTTP request. Redirects are not followed. Rejects with EgressError only. */
  request(url: string, options: EgressRequest): Promise<EgressResponse>;
  /**
   * Resolves to the permitted addresses of a host name or address literal (IPv6 also in brackets), for connections that
   * are not HTTP: connect only to one of these. Rejects with EgressError `denied` or `dns`.
   */
  resolve(host: string): Promise<Address[]>;
  /** For libraries that use `fetch`. Redirects are not followed. */
  fetch: typeof globalThis.fetch;
  /**
   * Like `fetch`, over a connection of its own for each request. A connection that its server closed while it was idle
   * looks like a lost response, and whether the request arrived would not be known. `onSend` is called when there is a
   * connection, before the first byte of the request is written: without it nothing was sent.
   */
  fetchOnNewConnection(
    input: string | URL,
    init?: RequestInit & { onSend?: (() => void) | undefined },
  ): Promise<Response>;
  /** Closes all connections at once. */
  close(): Promise<void>;
}

// Its type does not say what it forwards.
const Forwarding = DecoratorHandler as new (
  handler: Dispatcher.DispatchHandler,
) => Dispatcher.DispatchHandler;

/** Calls `onSend` when a request has a connection and is about to be written. */
class SendNotifier extends Forwarding {
  readonly #onSend: () => void;

  constructor(handler: Dispatcher.DispatchHandler, onSend: () => void) {
    super(handler);
    this.#onSend = onSend;
  }

  override onRequestStart(controller: Dispatcher.DispatchController, context: never): void {
    super.onRequestStart?.(controller, context);
    // The caller may have ended the request while it waited for the connection.
    if (!controller.aborted) this.#onSend();
  }
}

/**
 * Makes an Egress with CIDR rules. It looks up the name, checks the addresses, and connects to a checked address, so
 * that a name that changes between check and connect (DNS rebinding) gains nothing. `allow` wins over `deny`. Throws if
 * a list cannot be parsed.
 */
export const createEgress = (rules: {
  deny?: readonly string[];
  allow?: readonly string[];
  /** Certificates to trust in addition to Node's (PEM). */
  ca?: string | string[];
}): Egress => {
  const permitted = createAddressFilter(rules);
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
  const newAgent = (more: Agent.Options = {}): Agent =>
    new Agent({
      allowH2: false,
      // `timeoutMs` limits the request: a model may take longer than any default.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (options, callback) => {
        // An address literal is never looked up.
        if (isIP(options.hostname) !== 0 && !permitted(options.hostname)) callback(denied(), null);
        else connector(options, callback);
      },
      ...more,
    });
  const agent = newAgent();
  // 0 switches keep-alive off.
  const agentOfSingleUse = newAgent({ pipelining: 0 });
  const fetchBy = (dispatcher: Dispatcher, input: unknown, init?: object): Promise<Response> =>
    undiciFetch(input as string, {
      ...init,
      dispatcher,
      redirect: 'manual',
    }) as Promise<unknown> as Promise<Response>;
  const notifying = (onSend: () => void) =>
    agentOfSingleUse.compose(
      (dispatch) => (options, handler) => dispatch(options, new SendNotifier(handler, onSend)),
    );

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
      return exchange.response;
    },
    fetch: (input, init) => fetchBy(agent, input, init),
    fetchOnNewConnection: (input, { onSend, ...init } = {}) =>
      fetchBy(onSend ? notifying(onSend) : agentOfSingleUse, input, init),
    close: async () => {
      await Promise.all([agent.destroy(), agentOfSingleUse.destroy()]);
    },
  };
};
