import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import {
  Admin,
  type BaseOptions,
  type CallbackWithPromise,
  Connection,
  Consumer,
  FetchIsolationLevels,
  SASLMechanisms,
} from '@platformatic/kafka';
import type { Egress } from '../../lib/egress.ts';
import { type TlsSettings, tlsIdentity, tlsOptions } from '../../lib/tls.ts';
import { connectToAny, resolveHost } from '../dial.ts';
import { type Server, serversOf } from '../servers.ts';
import type { KafkaSettings } from '../settings.ts';

/** What a connection needs to know of its client. The library hands it over as the client's `context`. */
class ClientContext {
  readonly egress: Pick<Egress, 'resolve'>;
  readonly tls: TlsSettings;
  isClosed = false;

  constructor(egress: Pick<Egress, 'resolve'>, tls: TlsSettings) {
    this.egress = egress;
    this.tls = tls;
  }

  /** The address to connect to, for a server that the settings name or that a broker advertises. */
  async addressOf(server: Server): Promise<string> {
    const addresses = await resolveHost(this.egress, server.host);
    if (addresses.length === 1) return addresses[0]!.address;
    // The library dials one address: the first that accepts connections.
    const { socket, address } = await connectToAny(server, addresses, connectTimeoutMs);
    socket.destroy();
    return address.address;
  }
}

const connectTimeoutMs = 4_000;

/** The host whose connection is being opened: the library reads the options of TLS, made for all hosts, meanwhile. */
let dialledHost = '';

/** Options of TLS that check the certificate for the host that is being dialled, not for its address. */
const tlsOf = (tls: TlsSettings): object => ({
  ...tlsOptions(tls),
  get servername() {
    return tlsIdentity(dialledHost, tls).servername;
  },
  get checkServerIdentity() {
    return tlsIdentity(dialledHost, tls).checkServerIdentity;
  },
});

type Connect = (this: Connection, host: string, port: number, callback: CallbackWithPromise<void>) => void;

// The library dials names by itself, also those that brokers advertise, and has no option for it.
const connectItself = Connection.prototype.connect as Connect;
Connection.prototype.connect = function connect(
  this: Connection,
  host: string,
  port: number,
  callback: CallbackWithPromise<void>,
) {
  const { context } = this;
  if (!(context instanceof ClientContext)) return connectItself.call(this, host, port, callback);
  // The library listens once; a second error would end the process.
  this.on('error', () => {});
  const fail = (error: unknown) => {
    callback(error as Error, undefined as never);
    // Others who wait for this connection.
    this.emit('error', error as Error);
  };
  context.addressOf({ host, port }).then((address) => {
    if (context.isClosed) return fail(new Error('The client is closed.'));
    dialledHost = host;
    try {
      connectItself.call(this, address, port, callback);
      if (this.socket) guardSocket(this.socket);
    } catch (error) {
      fail(error);
    } finally {
      dialledHost = '';
    }
  }, fail);
} as typeof Connection.prototype.connect;

/** The largest response of a broker; a larger one is no response that was asked for. */
const largestResponse = 256 * 1024 * 1024;

/**
 * Ends the connection of a broker that announces a response which would not fit into memory. A response begins with its size
 * (Kafka protocol, 4 bytes).
 */
const guardSocket = (socket: Socket): void => {
  socket.on('error', () => {});
  const size = Buffer.alloc(4);
  let have = 0;
  let left = 0;
  socket.on('data', (chunk: Buffer) => {
    for (let at = 0; at < chunk.length; ) {
      if (left > 0) {
        const skipped = Math.min(left, chunk.length - at);
        left -= skipped;
        at += skipped;
        continue;
      }
      const copied = chunk.copy(size, have, at, Math.min(chunk.length, at + 4 - have));
      have += copied;
      at += copied;
      if (have < 4) return;
      have = 0;
      left = size.readUInt32BE();
      if (left > largestResponse) socket.destroy();
    }
  });
};

const mechanisms = {
  plain: SASLMechanisms.PLAIN,
  'scram-sha-256': SASLMechanisms.SCRAM_SHA_256,
  'scram-sha-512': SASLMechanisms.SCRAM_SHA_512,
};

const optionsOf = (
  { tls, sasl }: KafkaSettings,
  servers: readonly Server[],
  context: ClientContext,
): BaseOptions & { context: unknown } => ({
  clientId: 'agent-platform',
  bootstrapBrokers: [...servers],
  connectTimeout: connectTimeoutMs,
  retries: 2,
  retryDelay: 250,
  metadataMaxAge: 5_000,
  autocreateTopics: false,
  context,
  ...(tls.mode === 'disable' ? {} : { tls: tlsOf(tls) as ConnectionOptions }),
  ...(sasl && {
    sasl: { mechanism: mechanisms[sasl.mechanism], username: sasl.username, password: sasl.password },
  }),
});

/** A client, and how it is closed for good. */
export interface Opened<C> {
  client: C;
  close(): Promise<void>;
}

const closing = (context: ClientContext, close: () => Promise<unknown>) => async (): Promise<void> => {
  context.isClosed = true;
  await close().catch(() => {});
};

/** A client for questions about topics and groups. `servers`: default those of the settings. */
export const openAdmin = (
  settings: KafkaSettings,
  egress: Pick<Egress, 'resolve'>,
  servers = serversOf(settings.brokers),
): Opened<Admin> => {
  const context = new ClientContext(egress, settings.tls);
  const client = new Admin(optionsOf(settings, servers, context));
  client.on('error', () => {});
  return { client, close: closing(context, () => client.close()) };
};

/** A dead member's partitions are given to others after this time. Brokers take no less than 6 s by default. */
const sessionTimeoutMs = 8_000;

/** A member of a consumer group. It joins when it is told to, and commits nothing by itself. */
export const openConsumer = (
  settings: KafkaSettings,
  egress: Pick<Egress, 'resolve'>,
  groupId: string,
): Opened<Consumer<Buffer, Buffer, Buffer, Buffer>> => {
  const context = new ClientContext(egress, settings.tls);
  const client = new Consumer<Buffer, Buffer, Buffer, Buffer>({
    ...optionsOf(settings, serversOf(settings.brokers), context),
    groupId,
    autocommit: false,
    sessionTimeout: sessionTimeoutMs,
    rebalanceTimeout: sessionTimeoutMs,
    heartbeatInterval: 2_000,
    maxWaitTime: 500,
    isolationLevel: FetchIsolationLevels.READ_COMMITTED,
  });
  return { client, close: closing(context, () => client.close(true)) };
};
