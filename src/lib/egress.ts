import { lookup as dnsLookup } from 'node:dns';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { Agent, buildConnector, DecoratorHandler, type Dispatcher, fetch as undiciFetch } from 'undici';
import { createAddressFilter } from './egress-addresses.ts';
import { EgressError, type EgressResponse, Exchange, failureOf } from './egress-exchange.ts';
import { createForwarding, createLocalLookup, openTunnel } from './egress-proxy.ts';
import { isLoopback, type OutgoingProxy, type Proxies, proxyFor } from './outgoing-proxy.ts';

export { EgressError, type EgressResponse } from './egress-exchange.ts';

/** The controller that a handler is given for a request that was never sent. */
const neverSent: Dispatcher.DispatchController = {
  aborted: true,
  paused: false,
  reason: null,
  abort: () => {},
  pause: () => {},
  resume: () => {},
};

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

/** The route by which requests to an address leave. */
interface Route {
  /** Null: they go directly. */
  proxy: OutgoingProxy | null;
  /** The addresses of the host; null if only the proxy can look up its name. */
  addresses: Address[] | null;
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
  /**
   * Resolves to how requests to `url` leave: directly to a permitted address, or through the outgoing proxy. A name
   * that resolves here to a denied address is refused; one that does not resolve here is left to the proxy. Rejects
   * with EgressError `denied` or `dns`.
   */
  route(url: URL): Promise<Route>;
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
  /**
   * Returns a dispatcher for a library that opens a web socket, and `close`, which ends its connections at once: the agent of
   * undici lets go of a socket that became one.
   */
  ownConnections(): { dispatcher: Dispatcher; close(): void };
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
  /** A further limit next to `deny` and `allow`: the addresses that it permits, and the variable that says so. */
  narrower?: { permits: (address: string) => boolean; variable: string };
  /** Certificates to trust in addition to Node's (PEM). */
  ca?: string | string[];
  /** Default none. */
  proxies?: Proxies | undefined;
}): Egress => {
  const byLists = createAddressFilter(rules);
  const { narrower } = rules;
  const permitted = (address: string) => byLists(address) && (narrower?.permits(address) ?? true);
  const { proxies } = rules;
  const lookUpHere = createLocalLookup();
  const denied = () =>
    new EgressError(
      'denied',
      `the address of this host is not permitted (${narrower?.variable ?? 'EGRESS_DENY, EGRESS_ALLOW'})`,
    );

  const lookup: LookupFunction = (hostname, options, callback) => {
    dnsLookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, []);
      const good = found.filter(({ address }) => permitted(address));
      if (good.length === 0) return callback(denied(), []);
      if (options.all) callback(null, good);
      else callback(null, good[0]!.address, good[0]!.family);
    });
  };
  const connection = {
    autoSelectFamily: true,
    allowH2: false,
    timeout: 10_000,
    ...(rules.ca === undefined ? {} : { ca: rules.ca }),
  };
  const connector = buildConnector({ lookup, ...connection } as buildConnector.BuildOptions);
  const connectDirectly: buildConnector.connector = (options, callback) => {
    // An address literal is never looked up.
    if (isIP(options.hostname) !== 0 && !permitted(options.hostname)) callback(denied(), null);
    else connector(options, callback);
  };
  /** Directly, or in a tunnel through a proxy; http without TLS is forwarded, not tunnelled. */
  const connectByRoute: buildConnector.connector = (options, callback) => {
    const { protocol, host, hostname, port } = options;
    if (proxies === undefined || protocol !== 'https:') return connectDirectly(options, callback);
    route(new URL(`${protocol}//${host}`))
      .then(({ proxy }) => proxy && openTunnel(proxy, hostname, Number(port || 443), rules.ca))
      .then(
        (httpSocket) =>
          httpSocket === null
            ? connectDirectly(options, callback)
            : connector({ ...options, httpSocket }, callback),
        (error) => callback(failureOf(error), null),
      );
  };
  // `timeoutMs` limits the request: a model may take longer than any default.
  const agentOptions = { allowH2: false, headersTimeout: 0, bodyTimeout: 0 };
  const agents: Agent[] = [];
  const newAgent = (options: Agent.Options): Agent => {
    const made = new Agent({ ...agentOptions, ...options });
    agents.push(made);
    return made;
  };
  const newDispatcher = (more: Agent.Options = {}): Dispatcher => {
    const agent = newAgent({ connect: connectByRoute, ...more });
    if (!proxies?.http) return agent;
    const forwarding = createForwarding(
      proxies.http,
      (connect) => newAgent({ connect, ...more }),
      connection,
    );
    return agent.compose((dispatch) => (options, handler) => {
      const url = new URL(String(options.origin));
      if (url.protocol !== 'http:' || proxyFor(proxies, url) === null) return dispatch(options, handler);
      route(url).then(
        ({ proxy }) => (proxy === null ? dispatch(options, handler) : forwarding(options, handler)),
        (error) => handler.onResponseError?.(neverSent, failureOf(error)),
      );
      return true;
    });
  };
  const agent = newDispatcher();
  // 0 switches keep-alive off.
  const agentOfSingleUse = newDispatcher({ pipelining: 0 });
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

  const route = async (url: URL): Promise<Route> => {
    const proxy = proxies === undefined ? null : proxyFor(proxies, url);
    if (proxy === null) return { proxy, addresses: await resolve(url.hostname) };
    const found = await lookUpHere(url.hostname.replace(/^\[(.*)\]$/, '$1'));
    // The proxy may choose any of them.
    if (found.some(({ address }) => !permitted(address))) throw denied();
    if (found.length > 0 && found.every(({ address }) => isLoopback(address))) {
      return { proxy: null, addresses: found };
    }
    return { proxy, addresses: found.length === 0 ? null : found };
  };

  return {
    resolve,
    route,
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
    ownConnections: () => {
      const sockets = new Set<Socket>();
      const own = new Agent({
        ...agentOptions,
        connect: (options, callback) =>
          connectByRoute(options, (error, socket) => {
            if (socket) {
              sockets.add(socket);
              socket.once('close', () => sockets.delete(socket));
            }
            if (error) callback(error, null);
            else callback(null, socket!);
          }),
      });
      return {
        dispatcher: own,
        close: () => {
          own.destroy().catch(() => {});
          for (const socket of sockets) socket.destroy();
        },
      };
    },
    close: async () => {
      await Promise.all(agents.map((one) => one.destroy()));
    },
  };
};
