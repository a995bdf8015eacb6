import { type Datatype, type Engine, engineNames, parseSelect, print, resolve } from '@agent-platform/sql';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { openSqlEngines, type SqlEngine } from '../harness/sql-engines.ts';

let engines: SqlEngine[];
beforeAll(async () => {
  engines = await openSqlEngines(inject('postgresUrl'));
});
afterAll(() => Promise.all(engines.map((engine) => engine.close())));

const ask = (engine: SqlEngine, sql: string, columns: Record<string, Datatype>) => {
  const table = {
    name: 'm',
    source: { schema: engine.schema, table: 'm' },
    columns: Object.entries(columns).map(([name, datatype]) => ({ name, datatype })),
  };
  return engine.query(print(resolve(parseSelect(sql), [table]), engine.engine));
};

/** The same moment may be written with or without its seconds and zone. */
const hourOf = (value: unknown): string => String(value).slice(0, 13).replace('T', ' ');

/**
 * Half past two in Berlin before and after the clocks go back, and half an hour before and after they go forward, as
 * each engine writes a moment.
 */
const clocks = [
  ['2026-10-25 02:30:00', '+02:00'],
  ['2026-10-25 02:30:00', '+01:00'],
  ['2026-03-29 01:30:00', '+01:00'],
  ['2026-03-29 03:30:00', '+02:00'],
] as const;

const types: Record<Engine, string> = {
  postgres: 'timestamptz',
  mysql: 'timestamp',
  sqlite: 'text',
  duckdb: 'timestamptz',
};

describe('where clocks change', () => {
  beforeAll(async () => {
    for (const { engine, execute } of engines) {
      await execute(`create table m (id int, seen ${types[engine]}${engine === 'mysql' ? ' null' : ''})`);
      for (const [id, [local, offset]] of clocks.entries()) {
        if (engine === 'mysql') await execute(`set time_zone = '${offset}'`);
        const text = engine === 'mysql' ? local : `${local}${offset}`;
        await execute(`insert into m values (${id + 1}, '${text}')`);
      }
      if (engine === 'mysql') await execute("set time_zone = '+00:00'");
    }
  });

  it('two moments with the same time of the day are in their own hours, on every engine', async () => {
    for (const engine of engines) {
      const columns = { id: 'Integer', seen: 'DateTimeTz' } as const;
      const sql = "SELECT date_trunc('hour', seen), count(*) FROM m GROUP BY 1 ORDER BY 1";
      const hours = (await ask(engine, sql, columns)).map(([hour, count]) => [hourOf(hour), Number(count)]);
      expect(hours, engineNames[engine.engine]).toEqual([
        ['2026-03-29 00', 1],
        ['2026-03-29 01', 1],
        ['2026-10-25 00', 1],
        ['2026-10-25 01', 1],
      ]);
      const days = `SELECT date_trunc('day', seen), count(*), datediff(hour, min(seen), max(seen)),
        datediff(second, min(seen), max(seen)) FROM m GROUP BY 1 ORDER BY 1`;
      expect(
        (await ask(engine, days, columns)).map(([day, ...rest]) => [hourOf(day), ...rest.map(Number)]),
        engineNames[engine.engine],
      ).toEqual([
        ['2026-03-29 00', 2, 1, 3600],
        ['2026-10-25 00', 2, 1, 3600],
      ]);
      const added = 'SELECT dateadd(hour, 1, seen) FROM m WHERE id = 1';
      expect(hourOf((await ask(engine, added, columns))[0]![0]), engineNames[engine.engine]).toBe(
        '2026-10-25 01',
      );
      const between =
        "SELECT count(*) FROM m WHERE seen >= '2026-10-25T02:00:00+02:00' AND seen < '2026-10-25T02:00:00+01:00'";
      expect(Number((await ask(engine, between, columns))[0]![0]), engineNames[engine.engine]).toBe(1);
    }
  });
});

describe('dates of SQLite', () => {
  const values: [value: string, day: string | null, moment: string | null][] = [
    ["'2026-01-31'", '2026-01-31', '2026-01-31 00:00:00.000'],
    ["'2026-01-31T10:00:00+01:00'", '2026-01-31', '2026-01-31 09:00:00.000'],
    // Seconds since 1970, as SQLite's documentation has whole numbers
    ['1769853600', '2026-01-31', '2026-01-31 10:00:00.000'],
    ['0', '1970-01-01', '1970-01-01 00:00:00.000'],
    ['-86400', '1969-12-31', '1969-12-31 00:00:00.000'],
    ['1769853600.25', '2026-01-31', '2026-01-31 10:00:00.250'],
    // Days of the Julian count, as it has other numbers
    ['2461071.75', '2026-01-31', '2026-01-31 06:00:00.000'],
    // What SQLite would take for a date, or for another one
    ["'2026-02-30'", null, null],
    ["'now'", null, null],
    ["'2461071'", null, null],
    ["'10:00'", null, null],
    ["x'00'", null, null],
    ['null', null, null],
  ];

  it('are text, seconds or Julian days; what is no date is NULL', async () => {
    const sqlite = engines.find(({ engine }) => engine === 'sqlite')!;
    await sqlite.execute('drop table m', 'create table m (id integer, day, moment)');
    for (const [i, [value]] of values.entries())
      await sqlite.execute(`insert into m values (${i}, ${value}, ${value})`);
    const columns = { id: 'Integer', day: 'Date', moment: 'DateTime' } as const;
    const rows = await ask(sqlite, 'SELECT day, moment FROM m ORDER BY id', columns);
    expect(rows).toEqual(values.map(([, day, moment]) => [day, moment]));
    const sql = "SELECT count(*) FROM m WHERE moment >= '2026-01-31T10:00:00Z'";
    expect(await ask(sqlite, sql, columns)).toEqual([[2]]);
  });

  it('are refused if a number is no moment, such as milliseconds', async () => {
    const sqlite = engines.find(({ engine }) => engine === 'sqlite')!;
    await sqlite.execute('drop table m', 'create table m (seen)', 'insert into m values (1769853600000)');
    await expect(ask(sqlite, 'SELECT seen FROM m', { seen: 'DateTime' })).rejects.toThrow(
      'A number is no date',
    );
    const written = "SELECT dateadd(second, seen / 1000, timestamp '1970-01-01 00:00:00') FROM m";
    expect(await ask(sqlite, written, { seen: 'Integer' })).toEqual([['2026-01-31 10:00:00.000']]);
  });
});
