import pg from 'pg';
import { cronAt, type Peer } from './peer.ts';
import { message } from './platform.ts';
import { jobsIn } from './postgres-jobs.ts';

/**
 * Copies the schedule `schedule-0` `n` times: the rows that as many calls would create, which take minutes on a busy
 * machine.
 */
const copySchedule = async (url: string, n: number): Promise<void> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    `insert into pgboss.schedule select (jsonb_populate_record(one, jsonb_build_object(
        'key', 'schedule-' || k, 'data', one.data || jsonb_build_object('shop', k),
        'options', one.options || jsonb_build_object('key', 'schedule-' || k)))).*
      from pgboss.schedule one, generate_series(1, $1::int) k where one.key = 'schedule-0'`,
    [n],
  );
  await client.end();
};

/**
 * An instance looks for what is due every `cronMonitorIntervalSeconds` (default 30, at least 1); what it finds goes
 * through a queue of its own, from which each instance takes 50 every `cronWorkerIntervalSeconds` (default 5, at least
 * 1).
 */
const pgBossWith = (settings: string, instances: number, options: Record<string, number>): Peer => ({
  name: 'pg-boss',
  settings,
  defaultsOnly: settings === 'default',
  store: 'postgres',
  resolutionMs: 1_000,
  start: async ({ url, load }, n, due) => {
    const { PgBoss } = load('pg-boss');
    const bosses = Array.from({ length: instances }, () => {
      const boss = new PgBoss({ connectionString: url, ...options });
      boss.on('error', () => {});
      return boss;
    });
    const [first, ...others] = bosses;
    await first.start();
    await first.createQueue('fire');
    const cron = cronAt(due);
    await first.schedule('fire', cron, { shop: 0, message }, { key: 'schedule-0' });
    await copySchedule(url, n - 1);
    for (const boss of others) await boss.start();
    const from = "from pgboss.job where name = 'fire' and created_on >= $1";
    const { close, ...jobs } = await jobsIn(url, due, from, 'created_on');
    const stop = async (): Promise<void> => {
      await Promise.all(bosses.map((boss) => boss.stop({ graceful: false })));
      await close();
    };
    return { ...jobs, stop };
  },
});

/** One instance forwards at most 50 a second. */
const fastest = { cronMonitorIntervalSeconds: 1, cronWorkerIntervalSeconds: 1, max: 4 };

export const pgBoss: readonly Peer[] = [
  pgBossWith('default', 1, {}),
  pgBossWith('both cron intervals 1 s, 16 instances', 16, fastest),
];
