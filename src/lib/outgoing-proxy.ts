import ipaddr from 'ipaddr.js';
import { Secret } from './crypto.ts';

/** An HTTP proxy for outgoing requests. */
export interface OutgoingProxy {
  /** Scheme, host and port. */
  origin: string;
  /** True if the connection to the proxy itself is TLS. */
  secure: boolean;
  /** Without the brackets of IPv6. */
  host: string;
  port: number;
  /** The value of the Proxy-Authorization header; null: nothing is sent. */
  authorization: Secret | null;
  /** For people: `proxy.example.com:3128`, without credentials. */
  shown: string;
}

/** Which proxy requests of each scheme go through, and which go directly. */
export interface Proxies {
  http: OutgoingProxy | null;
  https: OutgoingProxy | null;
  /** The entries of NO_PROXY. */
  none: readonly NoProxy[];
}

interface NoProxy {
  matches: (host: string) => boolean;
  /** Null: every port. */
  port: number | null;
}

const bare = (host: string): string => host.replace(/^\[(.*)\]$/, '$1');

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    // A percent sign that stands for itself.
    return text;
  }
};

/** Reads the address of a proxy, whose scheme may be left out. Null if it is not an http or https address. */
export const parseProxy = (text: string): OutgoingProxy | null => {
  const address = text.includes('://') ? text : `http://${text}`;
  if (!URL.canParse(address)) return null;
  const { protocol, origin, hostname, port, username, password } = new URL(address);
  if (!/^https?:$/.test(protocol) || hostname === '') return null;
  const secure = protocol === 'https:';
  const number = Number(port || (secure ? 443 : 80));
  const credentials = `${decoded(username)}:${decoded(password)}`;
  return {
    origin,
    secure,
    host: bare(hostname),
    port: number,
    authorization:
      username === '' && password === ''
        ? null
        : new Secret(`Basic ${Buffer.from(credentials, 'utf8').toString('base64')}`),
    shown: `${hostname}:${number}`,
  };
};

const withoutDot = (host: string): string => host.replace(/\.$/, '');

/** Host and port of an entry: `host`, `host:1`, `::1`, `[::1]`, `[::1]:1`. */
const splitPort = (entry: string): [host: string, port: number | null] => {
  const [, inBrackets, ofBrackets] = /^\[(.+)\](?::(\d+))?$/.exec(entry) ?? [];
  if (inBrackets !== undefined) return [inBrackets, ofBrackets === undefined ? null : Number(ofBrackets)];
  const [, host, port] = /^([^:]+):(\d+)$/.exec(entry) ?? [];
  return host === undefined ? [entry, null] : [host, Number(port)];
};

const rangeOf = (text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] | null => {
  try {
    return ipaddr.parseCIDR(text);
  } catch {
    return null;
  }
};

const isInRange = (host: string, [range, bits]: [ipaddr.IPv4 | ipaddr.IPv6, number]): boolean => {
  if (!ipaddr.isValid(host)) return false;
  const address = ipaddr.process(host);
  return address.kind() === range.kind() && address.match(range, bits);
};

/**
 * Reads NO_PROXY: entries with commas or spaces between them. `*` is every host; `example.com` and `.example.com` are
 * this name and all below it, `*.example.com` only those below it; addresses and CIDR ranges count for addresses, not
 * for names that have them. Each may end in a port.
 */
export const parseNoProxy = (text: string): NoProxy[] =>
  text
    .split(/[,\s]+/)
    .filter((entry) => entry !== '')
    .map((entry) => {
      const [name, port] = splitPort(entry.toLowerCase());
      if (name === '*') return { port, matches: () => true };
      const range = rangeOf(name);
      if (range) return { port, matches: (host) => isInRange(host, range) };
      if (ipaddr.isValid(name)) {
        const address = ipaddr.process(name).toString();
        return {
          port,
          matches: (host) => ipaddr.isValid(host) && ipaddr.process(host).toString() === address,
        };
      }
      const suffix = withoutDot(name.replace(/^\*?\./, ''));
      const below = name.startsWith('*');
      return { port, matches: (host) => (host === suffix && !below) || host.endsWith(`.${suffix}`) };
    });

const isLocalName = (host: string): boolean => host === 'localhost' || host.endsWith('.localhost');

/** Returns whether packets to an address stay on this machine. */
export const isLoopback = (address: string): boolean => {
  if (!ipaddr.isValid(address)) return false;
  const range = ipaddr.process(address).range();
  return range === 'loopback' || range === 'unspecified';
};

/** Returns whether a host, as a url has it, is this machine by its text alone. */
export const isLoopbackHost = (hostname: string): boolean => {
  const host = withoutDot(bare(hostname).toLowerCase());
  return isLocalName(host) || isLoopback(host);
};

/** The proxy for a url by its text alone; null: none. A name of this machine's loopback is not recognised. */
export const proxyFor = (proxies: Proxies, { protocol, hostname, port }: URL): OutgoingProxy | null => {
  const proxy = protocol === 'https:' ? proxies.https : proxies.http;
  if (proxy === null) return null;
  if (isLoopbackHost(hostname)) return null;
  const host = withoutDot(bare(hostname).toLowerCase());
  const number = Number(port || (protocol === 'https:' ? 443 : 80));
  const direct = proxies.none.some((one) => (one.port === null || one.port === number) && one.matches(host));
  return direct ? null : proxy;
};

/** The rule for the variables of a proxy, for people. */
export const proxyFault =
  'must be the address of an HTTP proxy, as http://proxy.example.com:3128; its user name and password may precede the host';

/** The value of HTTPS_PROXY, HTTP_PROXY or NO_PROXY. The lower case wins, as in other programs; empty is not set. */
export const proxyVariable = (
  env: Record<string, string | undefined>,
  name: 'HTTPS_PROXY' | 'HTTP_PROXY' | 'NO_PROXY',
): string | undefined => env[name.toLowerCase()] || env[name] || undefined;
