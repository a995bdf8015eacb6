import { type Database, migrate, openPostgres, sql } from '../../src/database/index.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { workItemCalls } from '../../src/work-items/index.ts';
import type { Postgres } from '../../tests/harness/postgres.ts';
import { percentile, removeItems, seedAgents, seedItems } from './items.ts';

const rounds = 200;
const limit = 8;

/** Milliseconds of one claim with its commit. What it claimed is put back, which is not measured. */
const timeClaim = async (db: Database): Promise<number> => {
  const began = performance.now();
  const claimed = await db.tx((tx) => workItemCalls.claim(tx, { owner: 'bench', limit, leaseSeconds: 30 }));
  const took = performance.now() - began;
  if (claimed.length !== limit) throw new Error(`${claimed.length} of ${limit} Work Items were claimed`);
  await db.tx((tx) =>
    sql`update work_items set status = 'PENDING', lease_expires_at = null, lease_owner = null
      where status = 'EXECUTING' and lease_owner = 'bench'`.execute(tx),
  );
  return took;
};

/** The time of a claim by the length of the backlog, also behind the backlog of an agent that has no room. */
export const measureClaims = async (postgres: Postgres): Promise<void> => {
  const db = await openPostgres(await postgres.createDatabase(), silentLogger, 4);
  await migrate(db, silentLogger);
  const agents = await seedAgents(db, 100);
  const [full] = await seedAgents(db, 1, 1);
  const rows = [];
  for (const behindFull of [false, true]) {
    for (const waiting of [1_000, 200_000]) {
      await removeItems(db);
      if (behindFull) {
        await seedItems(db, [full!], waiting * 0.9, {}, 60);
        await db.tx((tx) =>
          sql`update work_items set status = 'EXECUTING', lease_expires_at = platform_now() + interval '1 hour'
            where id = (select id from work_items limit 1)`.execute(tx),
        );
      }
      await seedItems(db, agents, behindFull ? waiting * 0.1 : waiting);
      await db.run((executor) => sql`vacuum analyze work_items`.execute(executor));
      const took: number[] = [];
      for (let n = 0; n < rounds; n++) took.push(await timeClaim(db));
      rows.push({
        backlog: behindFull ? 'nine tenths, the oldest, of an agent without room' : 'of 100 agents',
        waiting,
        'fastest ms': Math.min(...took).toFixed(2),
        'median ms': percentile(took, 0.5).toFixed(2),
        'p99 ms': percentile(took, 0.99).toFixed(2),
      });
    }
  }
  await db.close();
  console.log(`A claim of ${limit} Work Items with its commit (goal: independent of the backlog)`);
  console.table(rows);
};
