import { spawn } from 'node:child_process';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { migrate, openPostgres, sql } from '../../src/database/index.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { insertBudget, totals } from '../../tests/harness/budgets.ts';
import { startPostgres } from '../../tests/harness/postgres.ts';
import { percentile } from '../runtime/items.ts';
import type { Measured } from './caller.ts';

const replicas = 4;
const callsPerSecond = 50;
const seconds = Number(process.env.MONEY_SECONDS ?? 30);
/** 50 mUSD; a call spends a tenth of it on average. */
const bound = 50_000_000;

const runCaller = (url: string): Promise<Measured> =>
  new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      [join(import.meta.dirname, 'caller.ts'), url, `${callsPerSecond}`, `${seconds}`, `${bound}`],
      { stdio: ['pipe', 'pipe', 'inherit'] },
    );
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.once('error', reject);
    child.once('close', () => {
      try {
        resolve(JSON.parse(output));
      } catch (error) {
        reject(error);
      }
    });
  });

/** 4 replicas reserve 200 calls a second under two budgets each, on PostgreSQL with fsync. Prints one table. */
export const measureReservations = async (): Promise<void> => {
  await using postgres = await startPostgres({ durable: true });
  const url = await postgres.createDatabase();
  const db = await openPostgres(url, silentLogger);
  await migrate(db, silentLogger);
  await db.run(async (executor) => {
    await sql`create table bench_items (id integer primary key, steps integer not null)`.execute(executor);
    await sql`insert into bench_items select n, 0 from generate_series(1, 1000) n`.execute(executor);
    await sql`create table bench_steps (id uuid primary key, amount bigint, content text)`.execute(executor);
  });
  await insertBudget(db, { limit: 10 ** 15 });
  await insertBudget(db, { limit: 10 ** 14, scope: { kind: 'agent', id: null } });
  const all = await Promise.all(Array.from({ length: replicas }, () => runCaller(url)));
  const of = (name: 'reserve' | 'charged' | 'plain' | 'control') => all.flatMap((one) => one[name]);
  const reserved = of('reserve');
  const grants = all.reduce((sum, one) => sum + one.grants, 0);
  const reservedAtEnd = (await totals(db)).reduce((sum, one) => sum + one.reserved, 0);
  await db.close();
  const ms = (values: number[], part: number) => Number(percentile(values, part).toFixed(3));
  console.log(
    `${replicas} replicas, ${reserved.length} calls at ${replicas * callsPerSecond} a second, 2 budgets a call: reserve p99 goal 1 ms, grants ${(
      (grants / reserved.length) * 100
    ).toFixed(
      1,
    )} % (goal 3), step p95 ${(percentile(of('charged'), 0.95) / percentile(of('plain'), 0.95)).toFixed(2)} × (goal 1.15), reserved at the end ${reservedAtEnd}, load ${loadavg()[0]!.toFixed(1)}`,
  );
  console.table(
    (
      [
        ['reserve', 'reserve'],
        ['charged', 'step with its charge'],
        ['plain', 'step'],
        ['control', 'select 1'],
      ] as const
    ).map(([name, what]) => ({
      what,
      'p50 ms': ms(of(name), 0.5),
      'p95 ms': ms(of(name), 0.95),
      'p99 ms': ms(of(name), 0.99),
      'slowest ms': ms(of(name), 1),
    })),
  );
  console.log(`first reservations of a period: ${Math.max(...all.map(({ first }) => first)).toFixed(0)} ms`);
};
