import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, openPostgres, sql } from '../../src/database/index.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { client } from '../../tests/harness/http.ts';
import type { Postgres } from '../../tests/harness/postgres.ts';
import { processMicros } from '../../tests/harness/proc.ts';
import { spawnPlatform } from '../../tests/harness/process.ts';
import { until } from '../../tests/harness/wait.ts';
import { countCompleted, percentile, removeItems, seedAgents, seedItems } from './items.ts';

/** Work Items of a round; rounds of each row. */
const items = Number(process.env.RUNTIME_ITEMS ?? 2_000);
const rounds = 3;

const oneStep = { steps: [{ text: 'The report is empty.' }] };

interface Round {
  /** Work Items per second, from the start of the first one to the end of the last one, by the database's clock. */
  rate: number;
  /** CPU for each Work Item. */
  platformMs: number;
  databaseMs: number;
}

/** Carries `count` Work Items to COMPLETED. */
export const round = async (
  db: Database,
  agents: readonly string[],
  cpuMicros: () => { platform: number; database: number },
  count = items,
): Promise<Round> => {
  await removeItems(db);
  const before = cpuMicros();
  await seedItems(db, agents, count, oneStep);
  await until(async () => (await countCompleted(db)) === count, 300_000, 200);
  const after = cpuMicros();
  const { rows } = await db.run((executor) =>
    sql<{
      seconds: number;
    }>`select extract(epoch from max(finished_at) - min(started_at))::float8 as seconds from work_items`.execute(
      executor,
    ),
  );
  return {
    rate: count / rows[0]!.seconds,
    platformMs: (after.platform - before.platform) / 1_000 / count,
    databaseMs: (after.database - before.database) / 1_000 / count,
  };
};

/**
 * Work Items that a platform process carries to COMPLETED per second, from a backlog, by `MAX_CONCURRENT_WORK_ITEMS`.
 * Each has one model call and no tool calls: claim, begin, finish, and its trace is durable before it is COMPLETED.
 */
export const measureThroughput = async (postgres: Postgres): Promise<void> => {
  const databaseUrl = await postgres.createDatabase();
  await using platform = await spawnPlatform({
    databaseUrl,
    env: { ROLES: 'api,worker,delivery', LOG_LEVEL: 'warn' },
  });
  const db = await openPostgres(databaseUrl, silentLogger, 2);
  const api = client(`${platform.url}/api/v2`, platform.key);
  const agents = await seedAgents(db, 20);
  const cpuMicros = () => ({
    platform: processMicros(platform.pid) ?? Number.NaN,
    database: processMicros(postgres.pid!) ?? Number.NaN,
  });
  const rows = [];
  const workspace = {
    name: 'bench',
    scope: { kind: 'workspace' },
    unit: 'tokens',
    limit: 9e15,
    period: 'total',
  };
  for (const [concurrency, hasBudget] of [
    [8, false],
    [32, false],
    [128, false],
    [32, true],
    [128, true],
  ] as const) {
    if (hasBudget && (await api.post('/budgets', workspace)).status === 200) await sleep(2_100);
    await api.patch('/advanced-settings', { MAX_CONCURRENT_WORK_ITEMS: concurrency });
    const measured: Round[] = [];
    for (let n = 0; n < rounds; n++) measured.push(await round(db, agents, cpuMicros));
    const rates = measured.map(({ rate }) => rate);
    const median = (name: keyof Round): number =>
      percentile(
        measured.map((one) => one[name]),
        0.5,
      );
    rows.push({
      MAX_CONCURRENT_WORK_ITEMS: concurrency,
      'workspace budget': hasBudget,
      'Work Items': items,
      'median/s': Math.round(median('rate')),
      'best/s': Math.round(Math.max(...rates)),
      'worst/s': Math.round(Math.min(...rates)),
      'CPU ms each, platform': median('platformMs').toFixed(2),
      'CPU ms each, database': median('databaseMs').toFixed(2),
      load: loadavg()[0]!.toFixed(1),
    });
  }
  await db.close();
  console.log('Work Items carried to COMPLETED per second: one step, no tools (goal: 500)');
  console.table(rows);
};
