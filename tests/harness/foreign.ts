import pg from 'pg';
import type { OpenParts, Session } from '../../src/data-connections/engines/engine.ts';
import { Progress } from '../../src/data-connections/engines/progress.ts';
import type { ServerSettings } from '../../src/data-connections/engines/settings.ts';
import { createEgress } from '../../src/lib/egress.ts';
import { createDatabase } from './postgres.ts';

/** The parts that a session is opened with; no database is the platform's own. */
export const openParts = (more: Partial<OpenParts> = {}): OpenParts => ({
  egress: createEgress({}),
  own: { exists: false, isAt: async () => false, isServer: async () => false },
  progress: new Progress(10_000),
  ...more,
});

/** Runs statements, one by one, as the superuser of the database at `url`. */
export const runSql = async (url: string, ...statements: string[]): Promise<void> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
};

/** A database of its own on the PostgreSQL of the tests, filled by `statements`, and how to reach it. */
export const foreignPostgres = async (
  adminUrl: string,
  ...statements: string[]
): Promise<{ url: string; settings: ServerSettings }> => {
  const url = await createDatabase(adminUrl);
  await runSql(url, ...statements);
  const { hostname, port, pathname, username } = new URL(url);
  return {
    url,
    settings: {
      host: hostname,
      port: Number(port),
      database: pathname.slice(1),
      username,
      tls: { mode: 'disable' },
    },
  };
};

/** A company's shop, in SQL that PostgreSQL, MariaDB and SQLite understand. */
export const shop = [
  'create table customers (id integer primary key, name varchar(50) not null, email varchar(50) unique)',
  `create table orders (id integer primary key, customer_id integer not null references customers (id),
    amount decimal(10, 2), placed_on date)`,
  "insert into customers values (1, 'Ada', 'ada@example.org'), (2, 'Grace', null)",
  `insert into orders values (1, 1, 12.50, '2026-01-31'), (2, 1, 0.10, '2026-02-01'), (3, 2, null, null)`,
];

/** Reads with limits that a test need not name. */
export const read = (session: Session, sql: string, more: Partial<Parameters<Session['read']>[0]> = {}) =>
  session.read({ sql, parameters: [], limit: 100, timeoutMs: 5_000, ...more });
