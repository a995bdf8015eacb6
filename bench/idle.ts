import { setTimeout as sleep } from 'node:timers/promises';
import { zoneRulesVersion } from '@agent-platform/cron';
import { migrate, openPostgres, sql } from '../src/database/index.ts';
import { newId } from '../src/lib/ids.ts';
import { silentLogger } from '../src/lib/log.ts';
import { Firing } from '../src/schedules/firing/firing.ts';
import { claimDue, claimOlderRules, countOverdue, lookAhead } from '../src/schedules/firing/store.ts';
import { insertAgents } from '../tests/harness/agents.ts';
import { startPostgres } from '../tests/harness/postgres.ts';
import { activeMs } from './database.ts';

/** Schedules that are not due, and how often each statement of a wake is timed. */
const schedules = Number(process.env.IDLE_SCHEDULES ?? 1_000_000);
const rounds = 200;

/**
 * The cost of a replica while nothing is due: the statements of one wake, by the database's own measure of its active
 * time, and by this process's clock, which includes the round trips; and this process's memory before and after
 * thousands of wakes.
 */
export const run = async (): Promise<void> => {
  const server = await startPostgres({ durable: true });
  const db = await openPostgres(server.url, silentLogger);
  await migrate(db, silentLogger);
  await db.tx(async (tx) => {
    const agent = newId();
    await insertAgents(tx, [agent]);
    await sql`set local statement_timeout = 0`.execute(tx);
    // 10,000 at a time, each herd a minute after the one before, none of them due during the benchmark.
    for (let made = 0; made < schedules; made += 10_000) {
      await sql`insert into schedules (id, agent_id, cron_expression, timezone, next_run_at, zone_rules)
        select gen_random_uuid(), ${agent}, '0 0 * * *', 'UTC',
          platform_now() + interval '1 day' + ${made / 10_000}::int * interval '1 minute', ${zoneRulesVersion}
        from generate_series(1, ${Math.min(10_000, schedules - made)}::int)`.execute(tx);
    }
  });
  await db.run((reader) => sql`analyze schedules`.execute(reader));

  const statements: Record<string, () => Promise<unknown>> = {
    'look ahead (every wake)': () => db.run(lookAhead),
    'claim what is due (only if something is)': () => db.tx((tx) => claimDue(tx, 1_000)),
    'older time-zone rules (every minute)': () => db.tx((tx) => claimOlderRules(tx, zoneRulesVersion, 1_000)),
    'overdue, for the metrics (every scrape)': () => db.run(countOverdue),
  };
  const rows = [];
  for (const [what, run] of Object.entries(statements)) {
    const before = await activeMs(db);
    const took: number[] = [];
    for (let i = 0; i < rounds; i++) {
      const begun = performance.now();
      await run();
      took.push(performance.now() - begun);
    }
    took.sort((a, b) => a - b);
    const inDatabase = ((await activeMs(db)) - before) / rounds;
    rows.push({
      what,
      schedules,
      'database ms': inDatabase.toFixed(3),
      'median ms with round trips': took[rounds / 2]!.toFixed(2),
      'p99 ms with round trips': took[Math.floor(rounds * 0.99)]!.toFixed(2),
    });
  }
  const firing = new Firing({ db, log: silentLogger });
  firing.start();
  const heapAfterWakes = async (n: number): Promise<number> => {
    for (let i = 0; i < n; i++) {
      firing.wake();
      await sleep(1);
    }
    globalThis.gc?.();
    return process.memoryUsage().heapUsed / 2 ** 20;
  };
  const heap = [await heapAfterWakes(500), await heapAfterWakes(2_000), await heapAfterWakes(2_000)];
  await firing.stop();
  await db.close();
  await server.stop();
  console.table(rows);
  console.log(
    `Heap after 500, 2,500 and 4,500 wakes: ${heap.map((mb) => mb.toFixed(1)).join(', ')} MB${globalThis.gc ? '' : ' (with `node --expose-gc` only what is in use)'}.`,
  );
};

if (import.meta.main) await run();
