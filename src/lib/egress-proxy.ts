import { lookup as dnsLookup, type LookupAddress } from 'node:dns';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type Socket } from 'node:net';
import { LRUCache } from 'lru-cache';
import { type Agent, buildConnector, DecoratorHandler, type Dispatcher } from 'undici';
import { EgressError, failureOf } from './egress-exchange.ts';
import type { OutgoingProxy } from './outgoing-proxy.ts';

/** For the connection to a proxy and its response to CONNECT together, in milliseconds. */
const tunnelMs = 20_000;

/** Returns the error that a proxy's refusal of a tunnel means. */
const refusalOf = ({ shown }: OutgoingProxy, status: number): EgressError => {
  if (status === 407) return refusedCredentials(shown);
  // The gateway could not do it: the host may be down or unknown.
  if (status === 502 || status === 503 || status === 504) {
    return new EgressError('connect', `the proxy ${shown} cannot reach the host (${status})`);
  }
  return new EgressError('proxy', `the proxy ${shown} refuses to connect to the host (${status})`);
};

const refusedCredentials = (shown: string): EgressError =>
  new EgressError('proxy', `the proxy ${shown} refuses the credentials in its address (407)`);

/** An address has no name for TLS (RFC 6066, section 3). */
const serverNameOf = ({ host }: OutgoingProxy): string => (isIP(host) === 0 ? host : '');

/** The failure of a connection to a proxy. */
const unreachableProxy = ({ shown }: OutgoingProxy, error: unknown): EgressError =>
  new EgressError('proxy', `the proxy ${shown} cannot be used: ${failureOf(error).message}`);

/**
 * Asks `proxy` for a connection to `host` (RFC 9110, section 9.3.6) and resolves to it. The proxy looks up the name. Rejects
 * with EgressError `proxy` or `connect`. `ca`: certificates to trust in addition to Node's.
 */
export const openTunnel = (
  proxy: OutgoingProxy,
  host: string,
  port: number,
  ca?: string | string[],
): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    const request = (proxy.secure ? httpsRequest : httpRequest)({
      host: proxy.host,
      port: proxy.port,
      method: 'CONNECT',
      path: authority,
      agent: false,
      headers: {
        host: authority,
        'user-agent': 'agent-platform',
        ...(proxy.authorization && { 'proxy-authorization': proxy.authorization.reveal() }),
      },
      // Its default is the name in the Host header.
      ...(proxy.secure ? { servername: serverNameOf(proxy) } : {}),
      ...(ca === undefined ? {} : { ca }),
    });
    const timer = setTimeout(
      () => request.destroy(new EgressError('timeout', 'no response in time')),
      tunnelMs,
    );
    request.once('connect', ({ statusCode = 0 }, socket: Socket, head) => {
      clearTimeout(timer);
      if (statusCode >= 200 && statusCode < 300) {
        if (head.length > 0) socket.unshift(head);
        resolve(socket);
        return;
      }
      socket.on('error', () => {}).destroy();
      reject(refusalOf(proxy, statusCode));
    });
    request.once('error', (error) => {
      clearTimeout(timer);
      reject(unreachableProxy(proxy, error));
    });
    request.end();
  });

/** The time limit of a look-up here, in milliseconds: if a proxy is needed, names of others may never resolve. */
const lookupMs = 2_000;
/** For how long a name that was not found here is not looked up again, in milliseconds. */
const unknownMs = 10_000;

/** Returns a look-up of names that proxies resolve too: of a name that is not known here there are no addresses. */
export const createLocalLookup = () => {
  const unknown = new LRUCache<string, true>({ max: 1_000, ttl: unknownMs });
  return (host: string): Promise<{ address: string; family: 4 | 6 }[]> =>
    new Promise((resolve) => {
      const family = isIP(host);
      if (family !== 0) return resolve([{ address: host, family: family as 4 | 6 }]);
      if (unknown.has(host)) return resolve([]);
      const found = (addresses: LookupAddress[]) => {
        clearTimeout(timer);
        if (addresses.length === 0) unknown.set(host, true);
        resolve(addresses as { address: string; family: 4 | 6 }[]);
      };
      const timer = setTimeout(found, lookupMs, []);
      dnsLookup(host, { all: true }, (error, addresses) => found(error ? [] : addresses));
    });
};

// Its type does not say what it forwards.
const Decorator = DecoratorHandler as new (handler: Dispatcher.DispatchHandler) => Dispatcher.DispatchHandler;

/** The response to a forwarded request. 407 is the proxy's own: no other server sends it. */
class ForwardedResponse extends Decorator {
  readonly #shown: string;

  constructor(handler: Dispatcher.DispatchHandler, shown: string) {
    super(handler);
    this.#shown = shown;
  }

  override onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[]>,
    message?: string,
  ): void {
    if (status === 407) controller.abort(refusedCredentials(this.#shown));
    else super.onResponseStart?.(controller, status, headers, message);
  }
}

type Headers = Dispatcher.DispatchOptions['headers'];

/** Header names and values as one object, whatever form they have. */
const headersOf = (headers: Headers): Record<string, string | string[]> => {
  if (headers === null || headers === undefined) return {};
  if (Array.isArray(headers)) {
    const pairs = headers as string[];
    return Object.fromEntries(pairs.flatMap((name, i) => (i % 2 === 0 ? [[name, pairs[i + 1]!]] : [])));
  }
  if (Symbol.iterator in headers) return Object.fromEntries(headers as Iterable<[string, string]>);
  return headers as Record<string, string | string[]>;
};

/**
 * Sends requests of http through `proxy` in absolute form (RFC 9112, section 3.2.2): proxies commonly refuse tunnels to
 * other ports than 443. `newAgent` makes the agent whose connections lead to the proxy; the operator named its address,
 * so the rules of egress do not apply to it.
 */
export const createForwarding = (
  proxy: OutgoingProxy,
  newAgent: (connect: buildConnector.connector) => Agent,
  connection: object,
): Dispatcher['dispatch'] => {
  const connector = buildConnector(connection as buildConnector.BuildOptions);
  const agent = newAgent((options, callback) =>
    connector({ ...options, servername: serverNameOf(proxy) }, (error, socket) =>
      error ? callback(unreachableProxy(proxy, error), null) : callback(null, socket!),
    ),
  );
  return (options, handler) => {
    const target = new URL(String(options.origin));
    const headers = headersOf(options.headers);
    const hasHost = Object.keys(headers).some((name) => name.toLowerCase() === 'host');
    return agent.dispatch(
      {
        ...options,
        origin: proxy.origin,
        path: `${target.origin}${options.path}`,
        headers: {
          ...headers,
          ...(hasHost ? {} : { host: target.host }),
          ...(proxy.authorization && { 'proxy-authorization': proxy.authorization.reveal() }),
        },
        // Its default is the name in the Host header, and connections are not shared by requests with several names.
        servername: proxy.host,
      } as Dispatcher.DispatchOptions,
      new ForwardedResponse(handler, proxy.shown),
    );
  };
};
