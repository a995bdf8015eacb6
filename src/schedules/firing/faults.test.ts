import { afterEach, beforeEach, expect, inject, it } from 'vitest';
import { eachDatabase } from '../../../tests/harness/database.ts';
import { until } from '../../../tests/harness/wait.ts';
import { makeAgent } from '../../../tests/harness/work-items.ts';
import { type Database, openPostgres, sql } from '../../database/index.ts';
import { newId } from '../../lib/ids.ts';
import { type Logger, silentLogger } from '../../lib/log.ts';
import { isRowFault } from './faults.ts';
import { Firing } from './firing.ts';

const withCode = (code: string) => Object.assign(new Error('no'), { code });

it.each(['22P02', '22003', '23505', '23514', '54000', 'P0001'])(
  'SQLSTATE %s can be the fault of one row',
  (code) => expect(isRowFault(withCode(code))).toBe(true),
);

it.each([
  ...['08006', '0A000', '25006', '25P02', '28000', '3D000', '3F000', '40P01', '42501', '42703', '42P01'],
  ...['53100', '55P03', '57014', '58030', 'XX001', 'ECONNRESET', 'EPIPE'],
])('%s is never the fault of one row', (code) => expect(isRowFault(withCode(code))).toBe(false));

it('an error without a code is never the fault of one row', () => {
  expect(isRowFault(new Error('Connection terminated'))).toBe(false);
  expect(isRowFault(undefined)).toBe(false);
});

eachDatabase((kind, open) => {
  const run = (statement: ReturnType<typeof sql>, db = open()) => db.run((r) => statement.execute(r));
  const rowsOf = async <T>(statement: ReturnType<typeof sql<T>>): Promise<T[]> =>
    (await open().run((r) => statement.execute(r))).rows;

  let firing: Firing | null = null;
  let after: (() => Promise<unknown>)[] = [];
  beforeEach(async () => {
    after = [];
    await run(sql`truncate schedules, work_items, occurrences cascade`);
  });
  afterEach(async () => {
    await firing?.stop();
    for (const undo of after.reverse()) await undo();
  });

  /** Schedules of every January that are not due yet. */
  const add = async (count: number): Promise<string[]> => {
    const agent = await makeAgent(open());
    const ids = Array.from({ length: count }, newId);
    await run(sql`insert into schedules (id, agent_id, cron_expression, timezone, zone_rules)
      select id, ${agent}, '0 0 1 1 *', 'UTC', '2026c' from unnest(${ids}::uuid[]) as id`);
    return ids;
  };
  const makeDue = (ids: string[], column = 'next_run_at') =>
    run(sql`update schedules set ${sql.ref(column)} = platform_now() - interval '1 second'
      where id = any(${ids}::uuid[])`);
  const fired = async (): Promise<number> =>
    (await rowsOf<{ n: number }>(sql`select count(*) as n from work_items`))[0]!.n;

  /** A loop on `db`, and what it logs. */
  const start = (db = open()) => {
    const failures: { error: string; retry_in_ms: number }[] = [];
    const log = {
      warn: () => {},
      error: (entry: (typeof failures)[number]) => failures.push(entry),
    } as unknown as Logger;
    const loop = new Firing({ db, log });
    firing = loop;
    loop.start();
    return { loop, failures };
  };

  /** Breaks the database under the loop while schedules fall due, restores it, and expects that all have fired. */
  const outage = async (parts: {
    loop: Firing;
    failures: readonly { error: string; retry_in_ms: number }[];
    break: () => Promise<unknown>;
    restore: () => Promise<unknown>;
    /** Message in the log. */
    error: RegExp;
    /** Name of `next_run_at` while the database is broken. */
    column?: string;
  }): Promise<void> => {
    const { loop, failures } = parts;
    const [first, ...ids] = await add(4);
    await makeDue([first!]);
    loop.wake();
    await until(async () => (await fired()) === 1);
    expect(failures).toEqual([]);

    await parts.break();
    await makeDue(ids, parts.column);
    loop.wake();
    for (const count of [1, 2, 3]) {
      await until(() => failures.length >= count);
      // Ends the sleep; how long it would have been is in the log. After the third the loop wakes by itself.
      if (count < 3) loop.wake();
    }
    expect(failures[0]!.error).toMatch(parts.error);
    expect(failures[0]!.error).toContain('what is due waits and is retried');
    expect(failures.slice(0, 3).map(({ retry_in_ms }) => retry_in_ms)).toEqual([200, 400, 800]);

    await parts.restore();
    expect(await fired()).toBe(1);
    await until(async () => (await fired()) === 4);
    expect(await rowsOf(sql`select distinct outcome from occurrences`)).toEqual([{ outcome: 'fired' }]);
    expect(await rowsOf(sql`select from schedules where next_run_at <= platform_now()`)).toEqual([]);
  };

  it.each([
    ['work_items', 'message'],
    ['occurrences', 'outcome'],
    ['schedules', 'next_run_at'],
  ])('renaming the column %s.%s delays firings and skips none', async (table, column) => {
    const rename = (from: string, to: string) =>
      run(sql`alter table ${sql.table(table)} rename column ${sql.ref(from)} to ${sql.ref(to)}`);
    await outage({
      ...start(),
      break: () => rename(column, 'elsewhere'),
      restore: () => rename('elsewhere', column),
      error: /SQLSTATE 42703.*Bring the tables back to the schema of this release/,
      ...(column === 'next_run_at' ? { column: 'elsewhere' } : {}),
    });
  });

  it('renaming a table delays firings and skips none', async () => {
    await outage({
      ...start(),
      break: () => run(sql`alter table work_item_events rename to elsewhere`),
      restore: () => run(sql`alter table elsewhere rename to work_item_events`),
      error: /work_item_events.*SQLSTATE 42P01/,
    });
  });

  it.each(['work_items', 'occurrences'])(
    'revoking a privilege on %s from the database user delays firings and skips none',
    async (table) => {
      const role = `limited_${newId().replaceAll('-', '')}`;
      await run(sql`create role ${sql.ref(role)} login`);
      await run(sql`grant select, insert, update, delete on all tables in schema public to ${sql.ref(role)}`);
      after.push(async () => {
        await run(sql`drop owned by ${sql.ref(role)}`);
        await run(sql`drop role ${sql.ref(role)}`);
      });
      let limited: Database = open();
      /** Runs `statement` as the owner, which on the one connection of the embedded database takes a change of role. */
      let asOwner = (statement: ReturnType<typeof sql>): Promise<unknown> => run(statement);
      if (kind === 'postgres') {
        const url = new URL(inject('postgresUrl'));
        url.username = role;
        url.pathname = (await rowsOf<{ name: string }>(sql`select current_database() as name`))[0]!.name;
        limited = await openPostgres(url.href, silentLogger);
        after.push(() => limited.close());
      } else {
        await run(sql`set role ${sql.ref(role)}`);
        after.push(() => run(sql`reset role`));
        asOwner = async (statement) => {
          await run(sql`reset role`);
          await run(statement);
          await run(sql`set role ${sql.ref(role)}`);
        };
      }
      const insertOn = sql`insert on ${sql.table(table)}`;
      await outage({
        ...start(limited),
        break: () => asOwner(sql`revoke ${insertOn} from ${sql.ref(role)}`),
        restore: () => asOwner(sql`grant ${insertOn} to ${sql.ref(role)}`),
        error: new RegExp(`${table} \\(SQLSTATE 42501\\).*Give the database user its privileges back`),
      });
    },
  );
});
