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

const server = '(nats|tls)://([^/@\\s,]+@)?([^/@\\s,:[\\]]+|\\[[0-9a-fA-F:]+\\])(:\\d{1,5})?';
const pattern = new RegExp(`^${server}(/[A-Za-z0-9_-]{0,64})?(\\s*,\\s*${server}/?)*$`);

/**
 * Parses `nats://USER:PASSWORD@HOST:PORT/STREAM`, or `nats://TOKEN@HOST`, or a comma-separated list of those for the
 * servers of a cluster, of which the first names stream and user; `tls://` likewise. Null if `value` is none of these.
 */
export const parseNatsAddress = (value: string): NatsAddress | null => {
  if (!pattern.test(value)) return null;
  try {
    const urls = value.split(',').map((one) => new URL(one.trim()));
    const { protocol, pathname, username, password } = urls[0]!;
    if (urls.some((url) => url.protocol !== protocol)) return null;
    return {
      servers: urls.map(({ hostname, port }) => `${hostname}:${port || defaultPort}`),
      stream: pathname.slice(1) || defaultStream,
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
