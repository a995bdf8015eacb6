import { setTimeout as sleep } from 'node:timers/promises';
import type { Reservation } from '../../src/budgets/index.ts';
import { settleShares } from '../../src/budgets/index.ts';
import { json, openPostgres, sql } from '../../src/database/index.ts';
import { newId } from '../../src/lib/ids.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { reserve, startEngine } from '../../tests/harness/budgets.ts';

/** A replica of the benchmark: `caller.ts URL CALLS_PER_SECOND SECONDS BOUND`. Prints its measurements as one JSON line. */

/** Milliseconds. */
export interface Measured {
  /** The first reservation, which makes the periods. */
  first: number;
  reserve: number[];
  /** A transaction that stores a step, with the charge of a call under budgets and without. */
  charged: number[];
  plain: number[];
  control: number[];
  grants: number;
}

const [url, rate, seconds, bound] = process.argv.slice(2) as [string, string, string, string];
process.stdin.resume().on('end', () => process.exit());

const db = await openPostgres(url, silentLogger);
const engine = await startEngine(db);
const measured: Measured = { first: 0, reserve: [], charged: [], plain: [], control: [], grants: 0 };

const timed = async <T>(into: number[], fn: () => Promise<T>): Promise<T> => {
  const began = performance.now();
  const result = await fn();
  into.push(performance.now() - began);
  return result;
};

/** Stores what stands for a step, and its charge if there is a reservation. */
const store = (reservation: Reservation | null, amount: number): Promise<void> => {
  const rows = reservation?.settlement({ amountNanoUsd: amount, assumedNanoUsd: null, tokens: amount });
  const settled = rows ? sql`${settleShares(sql`${json(rows)}::jsonb`)},` : sql``;
  return db.tx(async (tx) => {
    await sql`update bench_items set steps = steps + 1 where id = ${1 + Math.floor(Math.random() * 1_000)}`.execute(
      tx,
    );
    await sql`with ${settled} step as (select 1)
      insert into bench_steps values (${newId()}, ${amount}, ${'x'.repeat(400)})`.execute(tx);
  });
};

const call = async (n: number): Promise<void> => {
  const agentId = `agent ${n % 10}`;
  const reservation = await timed(measured.reserve, () => reserve(engine, Number(bound), { agentId }));
  await sleep(100 + Math.random() * 400);
  const charged = async () => {
    await timed(measured.charged, () => store(reservation, Math.ceil((Math.random() * Number(bound)) / 5)));
    reservation.settled();
  };
  const plain = () => timed(measured.plain, () => store(null, 1));
  // In turns: the first after a pause is slower, whichever it is.
  for (const step of n % 2 === 0 ? [charged, plain] : [plain, charged]) await step();
  if (n % 5 === 0) await timed(measured.control, () => db.run((executor) => sql`select 1`.execute(executor)));
};

// The first calls of a period create it: they are counted apart.
const first: number[] = [];
for (let n = 0; n < 10; n++)
  (await timed(first, () => reserve(engine, Number(bound), { agentId: `agent ${n}` }))).release();
measured.first = Math.max(...first);
const grants = engine.grants;
const calls: Promise<void>[] = [];
const began = performance.now();
for (let n = 0; performance.now() - began < Number(seconds) * 1_000; n++) {
  calls.push(call(n));
  await sleep(Math.max(0, began + ((n + 1) * 1_000) / Number(rate) - performance.now()));
}
await Promise.all(calls);
measured.grants = engine.grants - grants;
await engine.stop();
await db.close();
process.stdout.write(`${JSON.stringify(measured)}\n`, () => process.exit());
