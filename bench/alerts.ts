import { AlertChanges } from '../src/alerts/alerts.ts';
import { AlertPass } from '../src/alerts/pass.ts';
import { openPostgres, sql } from '../src/database/index.ts';
import { silentLogger } from '../src/lib/log.ts';
import { startPostgres } from '../tests/harness/postgres.ts';
import { percentile } from './console/client.ts';
import { seed } from './console/seed.ts';
import { ms } from './data/rig.ts';
import { activeMs } from './database.ts';

/**
 * What one look of the alerts costs among many schedules and Work Items, of which 1 % ended in ERROR and some thousands
 * wait for a person, with a rule of each kind. `ALERTS_SCHEDULES`, `ALERTS_WORK_ITEMS` (1,000,000 each).
 */
const schedules = Number(process.env.ALERTS_SCHEDULES ?? 1_000_000);
const workItems = Number(process.env.ALERTS_WORK_ITEMS ?? 1_000_000);
const rounds = 20;

export const run = async (): Promise<void> => {
  await using server = await startPostgres({ durable: true });
  await seed(server.url, { schedules, workItems });
  const db = await openPostgres(server.url, silentLogger);
  // What was before a rule does not count: the rules are older than all of it.
  await db.tx((tx) => sql`update alert_rules set created_at = '2020-01-01'`.execute(tx));
  await db.tx((tx) =>
    sql`insert into reviews (id, source, work_item_id, agent_id, agent_name, approvals, required_role, opened_at)
      select new_id(), 'work_item', id, agent_id, 'Night clerk', '[]', 'builder', platform_now() - interval '2 hours'
      from work_items where status = 'NEEDS_REVIEW'`.execute(tx),
  );
  const pass = new AlertPass({ db, log: silentLogger, changes: new AlertChanges(null), passes: [] });
  const look = async (): Promise<number> => {
    await db.tx((tx) => sql`update alert_pass set at = platform_now() - interval '10 seconds'`.execute(tx));
    const begun = performance.now();
    await pass.run();
    return performance.now() - begun;
  };
  await db.run((executor) => sql`vacuum analyze`.execute(executor));
  const first = await look();
  const before = await activeMs(db);
  const took: number[] = [];
  for (let n = 0; n < rounds; n++) took.push(await look());
  const inDatabase = ((await activeMs(db)) - before) / rounds;
  const { rows } = await db.run((reader) =>
    sql<{ n: number }>`select count(*)::int as n from alerts where state = 'firing'`.execute(reader),
  );
  await db.close();
  console.table([
    { what: 'the first look, which fires what there is', goal: '', here: ms(first) },
    {
      what: 'a later look: median, p95',
      goal: '',
      here: `${ms(percentile(took, 0.5))}, ${ms(percentile(took, 0.95))}`,
    },
    { what: 'time of the database in it', goal: '50 ms', here: ms(inDatabase) },
    { what: 'alerts that fire', goal: '', here: String(rows[0]!.n) },
  ]);
};
