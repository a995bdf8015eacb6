import { loadavg } from 'node:os';
import { openPostgres } from '../../src/database/index.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { lookAhead } from '../../src/schedules/firing/store.ts';
import type { Postgres } from '../../tests/harness/postgres.ts';
import { spawnPlatform } from '../../tests/harness/process.ts';
import { percentile } from '../console/client.ts';
import { prepareHerd } from '../scaling/loads.ts';
import { closeRig, measure, startReplicas } from '../scaling/rig.ts';
import { migrated } from './items.ts';
import { dropIndexes, makePattern, scheduleTables, seedSchedules } from './seed.ts';

const herd = 10_000;
const looks = 200;

/** How long a look at what is due next, a start, and a herd of 10,000 take next to many schedules. Prints one table. */
export const measureSchedules = async (postgres: Postgres, schedules: number): Promise<void> => {
  const rig = await migrated(postgres);
  try {
    const pattern = await makePattern(rig.databaseUrl, rig.client);
    const begun = performance.now();
    const buildIndexes = await dropIndexes(rig.client, scheduleTables);
    await seedSchedules(
      rig.client,
      pattern,
      schedules,
      `now() + interval '1 day' + n * interval '${86_400_000_000 / schedules} microseconds'`,
    );
    await buildIndexes();
    const seeding = (performance.now() - begun) / 1_000;
    await rig.client.query('vacuum analyze');
    const { rows } = await rig.client.query(
      `select sum(pg_total_relation_size(t::regclass))::float8 as bytes from unnest(array['schedules', 'schedule_definitions']) as t`,
    );

    const db = await openPostgres(rig.databaseUrl, silentLogger, 2);
    const took: number[] = [];
    for (let n = 0; n < looks; n++) {
      const at = performance.now();
      await db.run(lookAhead);
      took.push(performance.now() - at);
    }
    await db.close();

    const starting = performance.now();
    await (
      await spawnPlatform({
        databaseUrl: rig.databaseUrl,
        env: { LOG_LEVEL: 'warn' },
        readyWithinMs: 600_000,
      })
    ).stop();
    const started = performance.now() - starting;

    await startReplicas(rig, 1, 'api,scheduler,delivery');
    await (await prepareHerd(rig, 1_000))();
    const herds = [];
    for (let n = 0; n < 3; n++)
      herds.push(await measure(rig, `a herd of ${herd}`, await prepareHerd(rig, herd)));
    console.table({
      schedules,
      'seeded a second': Math.round(schedules / seeding),
      'bytes a schedule, with indexes': Math.round(rows[0].bytes / schedules),
      'look ahead with its round trip, ms: p50, p99': [0.5, 0.99]
        .map((part) => percentile(took, part).toFixed(2))
        .join(', '),
      'start until ready, s': (started / 1_000).toFixed(1),
      [`${herd} due at once: fired within s, three herds`]: herds
        .map((line) => (herd / line['a second']).toFixed(2))
        .join(', '),
      'CPU of a firing, µs, platform + database': herds
        .map((line) => `${line['CPU platform µs']} + ${line['CPU database µs']}`)
        .join(', '),
      load: loadavg()[0]!.toFixed(1),
    });
  } finally {
    await closeRig(rig);
  }
};
