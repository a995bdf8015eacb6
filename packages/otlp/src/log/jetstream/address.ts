/**
 * A stream on a NATS server or cluster, and the user that connects. All but `stream` are options of the NATS client.
 */
export interface NatsAddress {
  /** `HOST:PORT` */
  servers: string[];
  stream: string;
  user?: string;
  pass?: string;
  token?: string;
  /** If set, nothing is sent in plain text. If left out, TLS is used if the server offers it. */
  tls?: object;
}

const defaultStream = 'agent_platform_telemetry';
const defaultPort = 4222;

const scheme = '(?:nats|tls)://';
const server = '(?:[^/@\\s,]+@)?(?:[^/@\\s,:[\\]]+|\\[[0-9a-fA-F:]+\\])(?::\\d{1,5})?';
const name = '/(?<name>[A-Za-z0-9_-]{0,64})';
const comma = '\\s*,\\s*';
/** The name of the stream follows the first server. The scheme of the others may be left out. */
const namedFirst = new RegExp(`^${scheme}${server}(?:${name})?(?:${comma}(?:${scheme})?${server}/?)*$`);
/** It follows the last server, where the scheme is written once. */
const namedLast = new RegExp(`^${scheme}${server}(?:${comma}${server})+${name}$`);

/**
 * Parses `nats://USER:PASSWORD@HOST:PORT/STREAM`, or `nats://TOKEN@HOST`, or a comma-separated list for the servers of
 * a cluster, of which the first names the user: `nats://a:4222,b:4222/STREAM`, or each of them whole, of which the first
 * names the stream; `tls://` likewise. Null if `value` is none of these.
 */
export const parseNatsAddress = (value: string): NatsAddress | null => {
  const match = namedFirst.exec(value) ?? namedLast.exec(value);
  if (match === null) return null;
  try {
    const [first = '', ...others] = value.split(',').map((one) => one.trim());
    const { protocol, username, password } = new URL(first);
    const urls = [first, ...others].map((one) => new URL(one.includes('://') ? one : `${protocol}//${one}`));
    if (urls.some((url) => url.protocol !== protocol)) return null;
    return {
      servers: urls.map(({ hostname, port }) => `${hostname}:${port || defaultPort}`),
      stream: match.groups?.name || defaultStream,
      ...(protocol === 'tls:' ? { tls: {} } : {}),
      ...credentials(decodeURIComponent(username), decodeURIComponent(password)),
    };
  } catch {
    // A port above 65535, or a % that encodes nothing.
    return null;
  }
};

const credentials = (user: string, pass: string): Pick<NatsAddress, 'user' | 'pass' | 'token'> => {
  if (user === '') return {};
  return pass === '' ? { token: user } : { user, pass };
};
