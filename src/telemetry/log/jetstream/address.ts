import { TelemetryLogRefusal } from '../log.ts';

/** Where a stream is, and who comes there; as the NATS client takes it, but for `name`, which is the stream's. */
export interface StreamAddress {
  /** `HOST:PORT` */
  servers: string[];
  name: string;
  user?: string;
  pass?: string;
  token?: string;
  /** Nothing is sent in plain text, whatever the server says. Left out: TLS where the server offers it. */
  tls?: object;
}

const defaultName = 'agent_platform_telemetry';
const defaultPort = 4222;

/**
 * What `nats://USER:PASSWORD@HOST:PORT/STREAM` says, or `nats://TOKEN@HOST`, or a comma-separated list of such for the
 * servers of a cluster, of which the first names stream and user; `tls://` likewise. Throws TelemetryLogRefusal, which
 * repeats nothing of it: it may hold a password.
 */
export const addressOf = (value: string): StreamAddress => {
  try {
    const urls = value.split(',').map((one) => new URL(one.trim()));
    const { protocol, pathname, username, password } = urls[0]!;
    const name = pathname.slice(1) || defaultName;
    const isOne = /^(nats|tls):$/.test(protocol) && urls.every((url) => url.protocol === protocol);
    if (isOne && /^[A-Za-z0-9_-]{1,64}$/.test(name)) {
      return {
        servers: urls.map(({ hostname, port }) => `${hostname}:${port || defaultPort}`),
        name,
        ...(protocol === 'tls:' ? { tls: {} } : {}),
        ...whoComes(decodeURIComponent(username), decodeURIComponent(password)),
      };
    }
  } catch {
    // No url, or a % that encodes nothing.
  }
  throw new TelemetryLogRefusal(
    'must be nats:// or tls:// addresses of one cluster, user and password percent-encoded',
  );
};

const whoComes = (user: string, pass: string): Pick<StreamAddress, 'user' | 'pass' | 'token'> => {
  if (user === '') return {};
  return pass === '' ? { token: user } : { user, pass };
};
