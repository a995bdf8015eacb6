import { migrate, openPostgres } from '../../src/database/index.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { client } from '../../tests/harness/http.ts';
import type { Postgres } from '../../tests/harness/postgres.ts';
import { processMicros } from '../../tests/harness/proc.ts';
import { spawnPlatform } from '../../tests/harness/process.ts';
import { cpuMeter } from '../firings/measure.ts';
import { floorHerd, platformHerd } from '../firings/platform.ts';
import { percentile, seedAgents } from '../runtime/items.ts';
import { round } from '../runtime/throughput.ts';
import { less, more, type QuickRow } from './row.ts';

/** Measures 1,000 schedules that are due at one instant, and SQL that only writes the same rows. */
export const herd = async (postgres: Postgres): Promise<QuickRow[]> => {
  const db = await openPostgres(await postgres.createDatabase(), silentLogger);
  await migrate(db, silentLogger);
  const cpu = cpuMeter(() => processMicros(postgres.pid!));
  const lasts: Record<'here' | 'floor', number[]> = { here: [], floor: [] };
  for (let n = 0; n < 3; n++) {
    lasts.here.push((await platformHerd(db, 1_000, cpu)).last);
    lasts.floor.push((await floorHerd(db, 1_000, true, cpu)).last);
  }
  await db.close();
  const [here, floor] = [percentile(lasts.here, 0.5), percentile(lasts.floor, 0.5)];
  return [less('1,000 due at once, the last', 'ms', here, floor)];
};

/** Work Items carried to COMPLETED, by how many at once. */
export const throughput = async (postgres: Postgres): Promise<QuickRow[]> => {
  const databaseUrl = await postgres.createDatabase();
  await using platform = await spawnPlatform({
    databaseUrl,
    env: { ROLES: 'api,worker,delivery', LOG_LEVEL: 'warn' },
  });
  const db = await openPostgres(databaseUrl, silentLogger, 2);
  const api = client(`${platform.url}/api/v2`, platform.key);
  const agents = await seedAgents(db, 20);
  const rows: QuickRow[] = [];
  for (const slots of [8, 32, 128]) {
    await api.patch('/advanced-settings', { MAX_CONCURRENT_WORK_ITEMS: slots });
    const rates: number[] = [];
    for (let n = 0; n < 2; n++) {
      const { rate } = await round(db, agents, () => ({ platform: 0, database: 0 }), 1_000);
      rates.push(rate);
    }
    rows.push(more(`Work Items to COMPLETED, ${slots} at once`, '/s', Math.max(...rates)));
  }
  await db.close();
  return rows;
};
