import {
  type ConsumerMessages,
  DeliverPolicy,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  type StreamConfig,
  type StreamInfo,
} from '@nats-io/jetstream';
import { connect, errors, headers, type NatsConnection, nanos } from '@nats-io/transport-node';
import { TelemetryLogError, TelemetryLogRefusal } from '../log.ts';
import { messageOf } from '../message-of.ts';
import type { NatsAddress } from './address.ts';
import { type Copies, copiesOf, findOrCreate, serversOf, wantedCopies } from './create.ts';
import type { Logger } from './logger.ts';

/** A message of the stream without its payload. */
export interface StoredHeaders {
  seq: number;
  /** ms since 1970. */
  time: number;
  /** `head` or `chunk`. */
  kind: string;
  /** Size of the payload. */
  size: number;
  header(name: string): string;
}

const oldestServer = [2, 10, 23] as const;
/** If an acknowledgement takes longer, the message is published again, under the same id. */
const publishWithinMs = 2_000;
const requestTimeoutMs = 5_000;
/** A scrape of the metrics waits for it. */
const copiesTimeoutMs = 1_000;
/** The server removes a consumer after this time without a request. */
const inactiveMs = 30_000;
const fetchMessages = 500;
const fetchForMs = 5_000;
/** Two missed heartbeats end a fetch. */
const heartbeatMs = 1_000;
const isOlder = (version: string): boolean => {
  const parts = version.split(/[.-]/).map(Number);
  for (const [i, wanted] of oldestServer.entries()) if (parts[i] !== wanted) return (parts[i] ?? 0) < wanted;
  return false;
};

/**
 * Returns what is wrong with the configuration of the stream, or null. Someone else may have created it, and a stream
 * with such a fault could drop acknowledged messages without counting them.
 */
const faultOf = (config: StreamConfig): string | null => {
  if (config.storage !== 'file') return 'its storage must be file';
  if (config.retention !== 'limits') return 'its retention must be limits';
  if (config.discard !== 'new') return 'its discard policy must be new';
  if (config.max_age > 0) return 'it must have no max_age: what it drops would not be counted';
  if (config.max_msgs_per_subject > 0) return 'it must have no max_msgs_per_subject';
  if (config.no_ack || config.sealed || config.deny_purge) return 'it must acknowledge, and may be purged';
  if (config.persist_mode === 'async') return 'its persist_mode must not be async';
  return null;
};

const isFull = (error: unknown): boolean =>
  error instanceof JetStreamApiError &&
  ([10023, 10047].includes(error.code) || /maximum (bytes|messages)|resource/.test(error.message));

/**
 * The stream that holds the telemetry log. This file is the only one that knows the NATS libraries: a
 * connection that comes back by itself, publishing, reading by sequence number, headers in order, purging.
 */
export class LogStream {
  readonly name: string;
  /** Distinguishes this stream from one that was created later under the same name. */
  readonly created: string;
  readonly #connection: NatsConnection;
  readonly #client: JetStreamClient;
  readonly #manager: JetStreamManager;
  #connected = true;
  #replaced = false;

  private constructor(
    connection: NatsConnection,
    client: JetStreamClient,
    manager: JetStreamManager,
    { config, created }: StreamInfo,
    log: Logger,
  ) {
    this.name = config.name;
    this.created = created;
    this.#connection = connection;
    this.#client = client;
    this.#manager = manager;
    void this.#watch(log);
  }

  /**
   * Connects, and creates the stream if there is none. Throws TelemetryLogRefusal if the server or stream can never be
   * used.
   */
  static async open({ stream: name, ...server }: NatsAddress, log: Logger): Promise<LogStream> {
    const connection = await connect({
      ...server,
      name: 'agent-platform',
      timeout: requestTimeoutMs,
      pingInterval: 10_000,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 250,
      reconnectJitter: 250,
      ignoreAuthErrorAbort: true,
    }).catch((error) => {
      throw error instanceof errors.AuthorizationError
        ? new TelemetryLogRefusal('the user, the password or the token is wrong')
        : error;
    });
    try {
      const version = connection.info?.version ?? '0';
      if (isOlder(version)) {
        throw new TelemetryLogRefusal(
          `the server is NATS ${version}; ${oldestServer.join('.')} or newer is needed`,
        );
      }
      if (!connection.info?.jetstream)
        throw new TelemetryLogRefusal('JetStream is not enabled on the server');
      const manager = await jetstreamManager(connection, { timeout: requestTimeoutMs });
      const servers = serversOf(connection, server.servers);
      const info = await findOrCreate(manager, name, servers);
      const fault = faultOf(info.config);
      if (fault) throw new TelemetryLogRefusal(`the stream ${name} cannot be used: ${fault}`);
      const copies = info.config.num_replicas;
      if (copies < wantedCopies && servers >= wantedCopies) {
        log.warn(
          { stream: name, copies, servers },
          `the telemetry log has fewer than ${wantedCopies} copies on its cluster, and is away or lost with a server that has one: nats stream edit ${name} --replicas ${wantedCopies}`,
        );
      }
      log.info(
        { stream: name, server: version, copies },
        'the telemetry log is on JetStream; what is acknowledged outlives a power cut only with `sync_interval: always`',
      );
      return new LogStream(
        connection,
        jetstream(connection, { timeout: requestTimeoutMs }),
        manager,
        info,
        log,
      );
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  /** False from a loss of the connection until it is back, and for ever if the stream was created again. */
  get connected(): boolean {
    return this.#connected && !this.#replaced;
  }

  /** The largest message, headers included. */
  get maxMessage(): number {
    return this.#connection.info?.max_payload ?? 1024 * 1024;
  }

  /**
   * Stores a message. Resolves to its sequence number when the server has acknowledged it. Tries again until `until`
   * (by performance.now()), under the same `id`, by which the server recognises a repetition. Throws TelemetryLogError;
   * if the last try got no response, the message may be there nevertheless.
   */
  async publish(
    kind: 'head' | 'chunk',
    body: Buffer,
    header: Record<string, string>,
    id: string,
    until: number,
  ): Promise<number> {
    const hdrs = headers();
    for (const [name, value] of Object.entries(header)) hdrs.set(name, value);
    for (;;) {
      const left = until - performance.now();
      if (left <= 0) throw new TelemetryLogError('failed', 'the telemetry log does not respond');
      try {
        const { seq } = await this.#client.publish(`${this.name}.${kind}`, body, {
          msgID: id,
          headers: hdrs,
          timeout: Math.min(publishWithinMs, left),
        });
        return seq;
      } catch (error) {
        if (isFull(error)) throw new TelemetryLogError('full', 'the telemetry log is full');
        if (error instanceof errors.InvalidArgumentError)
          throw new TelemetryLogError('failed', error.message);
        if (this.#connection.isClosed()) throw new TelemetryLogError('closed', 'the telemetry log is closed');
        // The server is away, or has just come back and does not know its streams yet.
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }

  /** The payload of a message; null if the stream has it no more. */
  async payload(seq: number): Promise<Buffer | null> {
    const direct = await this.#manager.direct.getMessage(this.name, { seq }).catch(() => null);
    // Any server of the cluster may respond to a direct get, and may not have the message yet: the leader decides.
    const found = direct ?? (await this.#manager.streams.getMessage(this.name, { seq }));
    if (!found) return null;
    const { data } = found;
    // A view into the socket's buffer: if most of that is something else, it must not be kept in memory for this.
    return data.length * 2 < data.buffer.byteLength
      ? Buffer.from(data)
      : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  }

  /** The payload as the leader has it, if another server gave a damaged one. */
  async payloadFromLeader(seq: number): Promise<Buffer | null> {
    const found = await this.#manager.streams.getMessage(this.name, { seq });
    return found && Buffer.from(found.data);
  }

  /**
   * The headers of all messages from `from` on, in order, until `signal` is aborted: those that are there, and with
   * `follow` those that come. Throws if the connection is lost or the server has forgotten this reader: begin again
   * behind the last message.
   */
  async *headers(
    from: number,
    signal: AbortSignal,
    follow = false,
  ): AsyncGenerator<StoredHeaders, void, void> {
    const info = await this.#manager.consumers.add(this.name, {
      ack_policy: 'none',
      headers_only: true,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: from,
      mem_storage: true,
      num_replicas: 1,
      inactive_threshold: nanos(inactiveMs),
    });
    const consumer = this.#client.consumers.getConsumerFromInfo(info);
    let there = follow ? Number.POSITIVE_INFINITY : info.num_pending;
    let delivered = 0;
    let fetch: ConsumerMessages | undefined;
    const stop = () => void fetch?.stop();
    signal.addEventListener('abort', stop);
    try {
      while (there > 0 && !signal.aborted) {
        fetch = await consumer.fetch({
          max_messages: fetchMessages,
          expires: fetchForMs,
          idle_heartbeat: heartbeatMs,
        });
        for await (const message of fetch) {
          const { deliverySequence, timestampNanos, pending } = message.info;
          if (deliverySequence !== ++delivered) throw new Error('the stream left a message out');
          if (!follow) there = pending;
          yield {
            seq: message.seq,
            time: Math.floor(timestampNanos / 1e6),
            kind: message.subject.slice(this.name.length + 1),
            size: Number(message.headers?.get('Nats-Msg-Size')),
            header: (name) => message.headers?.get(name) ?? '',
          };
          if (there === 0 || signal.aborted) return;
        }
      }
    } finally {
      signal.removeEventListener('abort', stop);
      fetch?.stop();
      this.#manager.consumers.delete(this.name, info.name).catch(() => {});
    }
  }

  /** Removes everything before `seq`. Throws if the stream is not the one that was opened. */
  async purgeBefore(seq: number): Promise<void> {
    await this.last();
    await this.#manager.streams.purge(this.name, { seq });
  }

  /** The last sequence number that was given. Throws if the stream is not the one that was opened. */
  async last(): Promise<number> {
    const { state, created } = await this.#manager.streams.info(this.name);
    if (created !== this.created) {
      this.#replaced = true;
      throw new Error(`the stream ${this.name} was created again under this replica: restart it`);
    }
    return state.last_seq;
  }

  /** Rejects within about a second if the server does not say. */
  async copies(): Promise<Copies> {
    const manager = await jetstreamManager(this.#connection, { timeout: copiesTimeoutMs, checkAPI: false });
    return copiesOf(await manager.streams.info(this.name));
  }

  /** Uses up the sequence numbers up to `seq`, with empty messages. */
  async skipTo(seq: number): Promise<void> {
    for (let at = await this.last(); at < seq; at = await this.last()) {
      const count = Math.min(1_000, seq - at);
      const until = performance.now() + requestTimeoutMs;
      await Promise.all(
        Array.from({ length: count }, (_, i) =>
          this.publish('chunk', Buffer.alloc(0), {}, `skip.${this.created}.${at + i}.${Date.now()}`, until),
        ),
      );
    }
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  async #watch(log: Logger): Promise<void> {
    for await (const status of this.#connection.status()) {
      if (status.type === 'disconnect') {
        this.#connected = false;
        log.warn('the telemetry log is away: traces are refused until it is back');
      } else if (status.type === 'reconnect') {
        this.#connected = true;
        log.info('the telemetry log is back');
      } else if (status.type === 'error') {
        // A request that is not permitted gets no response: without this the server seems to hang.
        log.warn({ error: messageOf(status.error) }, 'the server of the telemetry log reports an error');
      }
    }
  }
}
