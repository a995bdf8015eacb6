import pg from 'pg';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { Mutex } from '../lib/semaphore.ts';
import { createDatabase, type Database } from './database.ts';
import { type Listener, Listeners } from './listeners.ts';
import { ping } from './ping.ts';

/** Interval at which the listening connection is checked, in milliseconds. */
const heartbeatMs = 5_000;

/** One connection that receives notifications. It is opened again whenever it is lost. */
class ListeningConnection {
  readonly #url: string;
  readonly #log: Logger;
  readonly #listeners = new Listeners();
  readonly #mutex = new Mutex();
  #client: pg.Client | null = null;
  #closed = false;
  #retry: NodeJS.Timeout | null = null;

  constructor(url: string, log: Logger) {
    this.#url = url;
    this.#log = log;
  }

  add(channel: string, listener: Listener): void {
    const isNew = this.#listeners.add(channel, listener);
    const client = this.#client;
    if (!isNew || !client) return;
    // Notifications that were sent before this takes effect were not received.
    const listen = () => client.query(`listen ${pg.escapeIdentifier(channel)}`);
    this.#send(client, listen, () => this.#listeners.notify(channel, null));
  }

  /** One at a time is sent. A failure loses the connection, and the next one listens on all channels. */
  #send(client: pg.Client, send: () => Promise<unknown>, done = (): void => {}): void {
    this.#mutex
      .run(async () => {
        if (this.#client !== client) return;
        await send();
        done();
      })
      .catch((error) => client.emit('error', error));
  }

  /** Opens the first connection. Rejects if that fails. */
  async open(): Promise<void> {
    await this.#connect();
  }

  async #connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#url,
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
      query_timeout: 5_000,
    });
    // Finds a connection that died in silence: nothing else would ever use it.
    const heartbeat = setInterval(() => this.#send(client, () => ping(client)), heartbeatMs);
    heartbeat.unref();
    const lost = (error?: Error): void => {
      // Only the first of the errors of one connection counts, and only while the connection is in use.
      if (this.#client !== client) return;
      this.#client = null;
      clearInterval(heartbeat);
      client.end().catch(() => {});
      if (this.#closed) return;
      this.#log.warn({ error: error && messageOf(error) }, 'the listening database connection was lost');
      this.#reconnectLater();
    };
    client.on('error', lost);
    client.on('end', () => lost());
    client.on('notification', ({ channel, payload }) => this.#listeners.notify(channel, payload ?? ''));
    try {
      await client.connect();
      for (const channel of this.#listeners.channels())
        await client.query(`listen ${pg.escapeIdentifier(channel)}`);
      if (this.#closed) throw new Error('closed in the meantime');
    } catch (error) {
      clearInterval(heartbeat);
      client.end().catch(() => {});
      throw error;
    }
    this.#client = client;
  }

  #reconnectLater(): void {
    this.#retry = setTimeout(async () => {
      try {
        await this.#connect();
      } catch {
        if (!this.#closed) this.#reconnectLater();
        return;
      }
      // Notifications sent in the meantime were not received.
      for (const channel of this.#listeners.channels()) this.#listeners.notify(channel, null);
    }, 500);
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#retry) clearTimeout(this.#retry);
    await this.#client?.end().catch(() => {});
  }
}

/** The connection for notifications cannot be opened, at an address of its own. `cause` says why. */
export class ListenFailure extends Error {}

/**
 * Time that a statement may take, in milliseconds: a server that is cut off in silence must not block the platform for
 * ever.
 */
const responseTimeoutMs = 35_000;

/**
 * Opens PostgreSQL at `url`. Rejects if it does not respond, so that the caller can try again. `queryTimeoutMs` 0 means
 * no limit (migrations). Notifications come over a connection of their own to `listenUrl`: ListenFailure if that is
 * another address and cannot be opened.
 */
export const openPostgres = async (
  url: string,
  log: Logger,
  maxConnections = 16,
  queryTimeoutMs = responseTimeoutMs,
  listenUrl = url,
): Promise<Database> => {
  const connection = new ListeningConnection(listenUrl, log);
  await connection.open().catch((cause: unknown) => {
    throw listenUrl === url ? cause : new ListenFailure(messageOf(cause), { cause });
  });
  const pool = new pg.Pool({
    connectionString: url,
    max: maxConnections,
    // Statements are sent before those before them have ended.
    pipeline: true,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    // No statement of the product takes long; one that does must not hold its locks for ever.
    statement_timeout: Math.min(queryTimeoutMs, 30_000),
    // A replica that freezes in the middle of a transaction must not hold row locks or an advisory lock for longer.
    idle_in_transaction_session_timeout: 5_000,
    query_timeout: queryTimeoutMs,
    application_name: 'agent-platform',
    // Awaited before the connection is used. Not a startup parameter: poolers refuse those that they do not know.
    onConnect: (client) => client.query('set jit = off').then(() => {}),
  });
  return createDatabase({
    kind: 'postgres',
    pool,
    log,
    listen: (channel, listener) => connection.add(channel, listener),
    close: () => connection.close(),
  });
};
