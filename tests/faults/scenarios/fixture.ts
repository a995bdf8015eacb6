import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type Database, openEmbedded, sql } from '../../../src/database/index.ts';
import { silentLogger } from '../../../src/lib/log.ts';
import { copyEmbedded } from '../../harness/database.ts';
import { setDatabaseClock } from '../../harness/database-clock.ts';
import { type Client, client } from '../../harness/http.ts';
import { type Postgres, startPostgres } from '../../harness/postgres.ts';
import { adminKey, type PlatformProcess, spawnPlatform } from '../../harness/process.ts';
import { until } from '../../harness/wait.ts';
import { freePort } from '../../harness/watchdog.ts';

export type Rows = <T>(text: string) => Promise<T[]>;

interface Replica {
  dataDir: string;
  port: number;
  process: PlatformProcess | null;
  /** The options of its last start. */
  options: StartOptions;
}

export interface StartOptions {
  env?: Record<string, string>;
  databaseUrl?: string | null;
  /** The folder of another release that is started instead. */
  release?: string;
}

/**
 * Replicas of the platform that die and return on their port and data folder, over one database whose clock the test
 * moves: a PostgreSQL of its own with fsync on, or the embedded database of the one replica.
 */
export class Fixture {
  readonly kind: Database['kind'];
  readonly postgres: Postgres | null;
  /** The platform's database; null if it is embedded. */
  readonly databaseUrl: string | null;
  readonly replicas: Replica[];
  readonly #base: string;
  #direct: Promise<pg.Client> | null = null;
  #offsetMs = 0;
  #shown = 0;

  private constructor(parts: {
    base: string;
    postgres: Postgres | null;
    databaseUrl: string | null;
    replicas: Replica[];
  }) {
    this.kind = parts.postgres ? 'postgres' : 'embedded';
    this.postgres = parts.postgres;
    this.databaseUrl = parts.databaseUrl;
    this.replicas = parts.replicas;
    this.#base = parts.base;
  }

  /** With a `server`, which it ends, in the place of one of its own. */
  static async open(kind: Database['kind'], replicas = 1, server?: Postgres): Promise<Fixture> {
    const base = await mkdtemp(join(tmpdir(), 'ap-faults-'));
    // A replica has up to 16 connections and one that listens.
    const settings = { max_connections: String(50 + 20 * replicas) };
    const postgres =
      server ?? (kind === 'postgres' ? await startPostgres({ durable: true, settings }) : null);
    const databaseUrl = postgres ? await postgres.createDatabase() : null;
    const places = await Promise.all(
      Array.from({ length: replicas }, async (_, i) => ({
        dataDir: join(base, `replica-${i}`),
        port: await freePort(),
        process: null,
        options: {},
      })),
    );
    if (kind === 'embedded') await copyEmbedded(places[0]!.dataDir);
    return new Fixture({ base, postgres, databaseUrl, replicas: places });
  }

  /**
   * Starts replica `i`, with another url of the database if one is given; without options, again as it was last.
   * Resolves when it is ready: true, or false if it was killed before that. Rejects if it ended by itself.
   */
  async start(i = 0, options: StartOptions = this.replicas[i]!.options): Promise<boolean> {
    const replica = this.replicas[i]!;
    replica.options = options;
    const { env = {}, databaseUrl = this.databaseUrl, release } = options;
    const process = await spawnPlatform({
      dataDir: replica.dataDir,
      port: replica.port,
      ...(databaseUrl ? { databaseUrl } : {}),
      ...(release ? { release } : {}),
      env: { LOG_LEVEL: 'warn', ...env },
      readyWithinMs: null,
    });
    replica.process = process;
    let ended = false;
    process.exited.then(() => {
      ended = true;
    });
    await until(async () => ended || (await fetch(`${process.url}/readyz`)).ok, 60_000);
    if (ended && replica.process === process) throw new Error(`the platform ended: ${process.output()}`);
    return !ended;
  }

  /** Sends SIGKILL if it runs. */
  async kill(i = 0): Promise<void> {
    const { process } = this.replicas[i]!;
    this.replicas[i]!.process = null;
    await process?.stop();
  }

  api(i = 0, base = '/api/v2'): Client {
    return client(`http://127.0.0.1:${this.replicas[i]!.port}${base}`, adminKey);
  }

  /** The database's time, milliseconds since 1970. */
  now(): number {
    return Date.now() + this.#offsetMs;
  }

  /** The latest time that the database's clock has shown. */
  latest(): number {
    return Math.max(this.#shown, this.now());
  }

  /**
   * Moves the database's clock. On PostgreSQL the move affects new connections and, within moments, every session; when
   * this resolves, also `inspect`. On the embedded database it takes effect at its next start.
   */
  async moveClock(byMs: number): Promise<void> {
    this.#shown = this.latest();
    this.#offsetMs += byMs;
    const directory = this.postgres?.dataDir ?? join(this.replicas[0]!.dataDir, 'database');
    await setDatabaseClock(directory, this.#offsetMs, this.postgres?.pid);
    if (!this.databaseUrl) return;
    const setting = "select current_setting('platform.clock_offset_ms', true) as ms";
    await until(
      async () => {
        const [row] = await this.inspect((rows) => rows<{ ms: string }>(setting));
        return row?.ms === String(Math.round(this.#offsetMs));
      },
      10_000,
      2,
    );
  }

  /** A connection of the test itself, opened again when it was lost. */
  #connected(): Promise<pg.Client> {
    this.#direct ??= (async () => {
      const direct = new pg.Client({ connectionString: this.databaseUrl!, connectionTimeoutMillis: 10_000 });
      direct.on('error', () => {});
      const lost = () => {
        this.#direct = null;
      };
      direct.once('end', lost);
      await direct.connect().catch((error: unknown) => {
        lost();
        throw error;
      });
      return direct;
    })();
    return this.#direct;
  }

  /** Queries the database directly; the embedded one only while no replica runs. */
  async inspect<T>(fn: (rows: Rows) => Promise<T>): Promise<T> {
    if (this.databaseUrl) {
      const direct = await this.#connected();
      return fn(async (text) => (await direct.query(text)).rows);
    }
    const db = await openEmbedded(this.replicas[0]!.dataDir, silentLogger);
    try {
      return await fn(<R>(text: string) =>
        db.run(async (reader) => (await sql.raw<R>(text).execute(reader)).rows),
      );
    } finally {
      await db.close();
    }
  }

  /** Wakes the firing loops, as a write to a schedule does on every replica. PostgreSQL only. */
  wake(): Promise<void> {
    return this.inspect(async (rows) => void (await rows(`select pg_notify('schedules', '')`)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.replicas.map((_, i) => this.kill(i)));
    await this.#direct?.then((direct) => direct.end()).catch(() => {});
    await this.postgres?.stop();
    await rm(this.#base, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The body of a successful response; throws on any other. */
export const must = async (
  response: Promise<{ status: number; body: unknown; text: string }>,
): Promise<Record<string, never>> => {
  const { status, body, text } = await response;
  if (status >= 300) throw new Error(`${status} ${text}`);
  return body as Record<string, never>;
};

/** Creates an LLM configuration of the endpoint at `url`, which does not stream. */
export const newLlm = (
  api: ReturnType<Fixture['api']>,
  url: string,
  more: Record<string, unknown> = {},
): Promise<Record<string, never>> =>
  must(
    api.post('/llm-configurations', {
      ...{ kind: 'openai_compatible', name: 'L', model: 'm', base_url: url, streaming: false },
      ...more,
    }),
  );

/** A size of a long run, from the environment. */
export const size = (name: string, otherwise: number): number => {
  const value = Number(process.env[name] ?? otherwise);
  if (!Number.isFinite(value) || value < 0)
    throw new Error(`${name} must be a number, not ${process.env[name]}`);
  return value;
};
