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
  #saying: Promise<unknown> = Promise.resolve();
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
      this.#say(client, `listen ${pg.escapeIdentifier(channel)}`);
    }
  }

  /** One statement after the other. One that fails loses the connection, and the next one listens on all channels. */
  #say(client: pg.Client, text: string): void {
    this.#saying = this.#saying
      .then(() => (this.#client === client ? client.query(text) : null))
      .catch((error) => client.emit('error', error));
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
      query_timeout: 5_000,
    });
    // A connection that died in silence is found out: nothing else would ever use it.
    const heartbeat = setInterval(() => this.#say(client, 'select 1'), heartbeatMs);
    heartbeat.unref();
    const lost = (error?: Error): void => {
      // Of what goes wrong with one connection only the first counts, and only while it is the one in use.
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
    client.on('notification', ({ channel, payload }) => this.#tell(channel, payload ?? ''));
    try {
      await client.connect();
      for (const channel of this.#listeners.keys())
        await client.query(`listen ${pg.escapeIdentifier(channel)}`);
      if (this.#closed) throw new Error('closed meanwhile');
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

/** How long a statement is waited for, in milliseconds: a server that is cut off in silence must not hold us for ever. */
const answerWithinMs = 35_000;

/**
 * PostgreSQL at `url`. Throws when it does not answer, so that the caller can try again. `queryTimeoutMs` 0: a
 * statement may take as long as it takes (migrations).
 */
export const openPostgres = async (
  url: string,
  log: Logger,
  maxConnections = 16,
  queryTimeoutMs = answerWithinMs,
): Promise<Database> => {
  const listener = new Listener(url, log);
  await listener.open();
  const pool = new pg.Pool({
    connectionString: url,
    max: maxConnections,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    // No statement of the product takes long; one that does must not hold its locks for ever.
    statement_timeout: Math.min(queryTimeoutMs, 30_000),
    // A replica that froze in the middle of a transaction holds its rows, or a turn that all others wait for, no longer.
    idle_in_transaction_session_timeout: 5_000,
    query_timeout: queryTimeoutMs,
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
