import { AsyncLocalStorage } from 'node:async_hooks';
import { type ColumnType, type Generated, Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { ApiError, messageOf, unavailable } from '../lib/errors.ts';
import { parseJson } from '../lib/json.ts';
import type { Logger } from '../lib/log.ts';
import { namingPool, type Statement, sentWithNext } from './naming-pool.ts';

/**
 * The tables. Each feature declares its own next to its SQL (`declare module`), so this names none.
 * @public
 */
// biome-ignore lint/suspicious/noEmptyInterface: filled by the features' stores
export interface Schema {}

/** A table of `Row` in the schema. An insert may leave out the columns `D`: the database has a default for them. */
export type Table<Row, D extends keyof Row = never> = {
  [C in keyof Row]: C extends D ? Generated<Row[C]> : Row[C];
};

/** A jsonb column that is read as `T` and written as the text that `json` makes, or null where `T` may be. */
export type Json<T> = ColumnType<T, string | Extract<T, null>, string | Extract<T, null>>;

/** A transaction: all that a store function may use inside one. */
export type Tx = Kysely<Schema> & { readonly isTransaction: true };

/** Runs statements. Every `Tx` is one, so what reads can be shared; without a transaction each statement is its own. */
export type Executor = Kysely<Schema>;

/**
 * The only access to the database, the same for the embedded one and for PostgreSQL. Inside `tx`, use only the given
 * `tx`: the embedded database has one connection, so a second use would wait for itself for ever. Both databases throw
 * at once instead.
 */
export interface Database {
  readonly kind: 'embedded' | 'postgres';
  /** Runs `fn` in one transaction (read committed). It commits when `fn` resolves and rolls back when it throws. */
  tx<T>(fn: (tx: Tx) => Promise<T>): Promise<T>;
  /** Runs single statements, each in a transaction of its own. */
  run<T>(fn: (executor: Executor) => Promise<T>): Promise<T>;
  /**
   * Calls `listener` with the payload of each `NOTIFY channel`, from every replica. It is also called, with `null`,
   * when notifications may have been missed: when listening begins on PostgreSQL and when a lost connection is back. A
   * listener that was already added to the channel is not added again, so that a start step can be run again.
   */
  listen(channel: string, listener: (payload: string | null) => void): void;
  /**
   * Calls `observer`, which replaces the one before, with every statement, in its asynchronous context. It must not
   * throw.
   */
  onStatement(observer: (statement: Statement) => void): void;
  /** Resolves when the database responds; throws 503 when it does not. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** int8 as a number: every count and sequence here is far below 2^53. */
pg.types.setTypeParser(pg.types.builtins.INT8, Number);
/** Free-form objects come back with the integers that they were given. */
pg.types.setTypeParser(pg.types.builtins.JSONB, parseJson);

/**
 * Returns whether the database is unreachable or overloaded (57014: a statement timed out), rather than the statement wrong.
 */
const isConnectionFailure = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: string }).code ?? '';
  return (
    /^(08|57P0|57014|53)/.test(code) ||
    /^E(CONN|PIPE|TIMEDOUT|NOTFOUND|AI_AGAIN|HOSTUNREACH)/.test(code) ||
    /^(Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has encountered a connection error|Cannot use a pool after)/.test(
      error.message,
    )
  );
};

/** Deadlocks and serialization failures: the transaction did nothing and may be run again. */
const isRetryable = (error: unknown): boolean =>
  error instanceof Error && ['40001', '40P01'].includes((error as { code?: string }).code ?? '');

/**
 * Marks the asynchronous context of an open use. `open` turns false at its end, for timers that inherit the context.
 */
const current = new AsyncLocalStorage<{ open: boolean }>();

/** Runs `fn` outside the context of any transaction, as listeners and loops must run. */
export const outsideTransaction = <T>(fn: () => T): T => current.exit(fn);

export const createDatabase = (parts: {
  kind: Database['kind'];
  pool: pg.Pool;
  listen: Database['listen'];
  close: () => Promise<void>;
  log: Logger;
}): Database => {
  const { kind, pool, log } = parts;
  pool.on('error', (error) => log.warn({ error: messageOf(error) }, 'an idle database connection was lost'));
  // A connection lost in use rejects its statement. Its `error` event would end the process without a listener.
  pool.on('connect', (client) => client.on('error', () => {}));
  let observer: (statement: Statement) => void = () => {};
  const naming = namingPool(pool, (statement) => observer(statement));
  const kysely = new Kysely<Schema>({ dialect: new PostgresDialect({ pool: naming }) });

  const use = async <T>(fn: () => Promise<T>): Promise<T> => {
    if (current.getStore()?.open)
      throw new Error('the database was used inside a transaction without its tx');
    const mark = { open: true };
    try {
      return await current.run(mark, fn);
    } catch (error) {
      if (error instanceof ApiError || !isConnectionFailure(error)) throw error;
      log.warn({ error: messageOf(error) }, 'the database does not respond');
      throw unavailable('The database does not respond at present. Try again in a moment.', 2);
    } finally {
      mark.open = false;
    }
  };

  return {
    kind,
    tx: (fn) =>
      use(async () => {
        for (let attempt = 1; ; attempt++) {
          try {
            return await kysely.transaction().execute((tx) => fn(tx as unknown as Tx));
          } catch (error) {
            if (attempt >= 4 || !isRetryable(error)) throw error;
          }
        }
      }),
    run: (fn) => use(() => fn(kysely)),
    listen: parts.listen,
    onStatement: (next) => {
      observer = next;
    },
    ping: () => use(async () => void (await sql`select 1`.execute(kysely))),
    close: async () => {
      await pool.end();
      await parts.close();
    },
  };
};

/** Notifies every replica when the transaction commits. `payload` has less than 8,000 bytes. */
export const notify = async (tx: Tx, channel: string, payload = ''): Promise<void> => {
  await sql`${sentWithNext} select pg_notify(${channel}, ${payload})`.execute(tx);
};

/** The database's time in milliseconds since 1970. It decides what is due. */
export const databaseNow = async (executor: Executor): Promise<number> => {
  const { rows } = await sql<{ now: Date }>`select platform_now() as now`.execute(executor);
  return rows[0]!.now.getTime();
};

/** A value for a jsonb column. The driver would write an array as a PostgreSQL array. */
export const json = (value: unknown): string => JSON.stringify(value);
