import pg from 'pg';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { createDatabase, type Database, outsideTransaction } from './database.ts';

/** How often the listening connection is asked whether it lives. */
const heartbeatMs = 5_000;

/** One connection that hears notifications, opened again whenever it is lost. */
class Listener {
  readonly #url: string;
  readonly #log: Logger;
  readonly #listeners = new Map<string, ((payload: string | null) => void)[]>();
  #client: pg.Client | null = null;
  /** A connection takes one statement at a time. */
  #listening: Promise<unknown> = Promise.resolve();
  #closed = false;
  #retry: NodeJS.Timeout | null = null;

  constructor(url: string, log: Logger) {
    this.#url = url;
    this.#log = log;
  }

  add(channel: string, listener: (payload: string | null) => void): void {
    const known = this.#listeners.get(channel);
    if (known) known.push(listener);
    else {
      this.#listeners.set(channel, [listener]);
      const client = this.#client;
      if (!client) return;
      // Where it fails, the connection is lost, and the next one listens on all channels.
      this.#listening = this.#listening.then(() => this.#listen(client, channel)).catch(() => {});
    }
  }

  #listen(client: pg.Client, channel: string): Promise<unknown> {
    return client.query(`listen ${pg.escapeIdentifier(channel)}`);
  }

  /** The first connection; rejects where it cannot be made. */
  async open(): Promise<void> {
    await this.#connect();
  }

  async #connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#url,
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
    });
    const lost = (error?: Error): void => {
      // Of what goes wrong with one connection only the first counts, and only while it is the one in use.
      if (this.#client !== client) return;
      this.#client = null;
      client.end().catch(() => {});
      if (this.#closed) return;
      this.#log.warn({ error: error && messageOf(error) }, 'the listening database connection was lost');
      this.#reconnectLater();
    };
    client.on('error', lost);
    client.on('end', () => lost());
    client.on('notification', ({ channel, payload }) => this.#tell(channel, payload ?? ''));
    try {
      await client.connect();
      for (const channel of this.#listeners.keys()) await this.#listen(client, channel);
    } catch (error) {
      client.end().catch(() => {});
      throw error;
    }
    if (this.#closed) await client.end();
    else this.#client = client;
  }

  #reconnectLater(): void {
    this.#retry = setTimeout(async () => {
      try {
        await this.#connect();
      } catch {
        if (!this.#closed) this.#reconnectLater();
        return;
      }
      // What was said meanwhile was not heard.
      for (const channel of this.#listeners.keys()) this.#tell(channel, null);
    }, 500);
  }

  #tell(channel: string, payload: string | null): void {
    for (const listener of this.#listeners.get(channel) ?? []) outsideTransaction(() => listener(payload));
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#retry) clearTimeout(this.#retry);
    await this.#client?.end().catch(() => {});
  }
}

/** PostgreSQL at `url`. Throws when it does not answer, so that the caller can try again. */
export const openPostgres = async (url: string, log: Logger, maxConnections = 16): Promise<Database> => {
  const listener = new Listener(url, log);
  await listener.open();
  const pool = new pg.Pool({
    connectionString: url,
    max: maxConnections,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    // No statement of the product takes long; one that does must not hold its locks for ever.
    statement_timeout: 60_000,
    idle_in_transaction_session_timeout: 60_000,
    application_name: 'agent-platform',
  });
  return createDatabase({
    kind: 'postgres',
    pool,
    log,
    listen: (channel, heard) => listener.add(channel, heard),
    close: () => listener.close(),
  });
};
