import { lookup as dnsLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector, type Dispatcher, fetch as undiciFetch } from 'undici';
import { createAddressFilter } from './egress-addresses.ts';
import { EgressError, type EgressResponse, Exchange, failureOf } from './egress-exchange.ts';

export { EgressError, type EgressResponse } from './egress-exchange.ts';

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
      return exchange.response;
    },
    fetch: ((input: never, init?: object) =>
      undiciFetch(input, { ...init, dispatcher: agent, redirect: 'manual' })) as typeof globalThis.fetch,
    close: () => agent.destroy(),
  };
};
