import { message } from './ours.ts';
import { inHundreds, type Peer } from './peer.ts';
import { jobsIn } from './postgres-jobs.ts';

/**
 * An instance looks for what is due every `cronMonitorIntervalSeconds` (default 30, at least 1); what it finds goes
 * through a queue of its own, from which each instance takes 50 every `cronWorkerIntervalSeconds` (default 5, at least 1).
 */
const pgBossWith = (settings: string, instances: number, options: Record<string, number>): Peer => ({
  name: 'pg-boss',
  settings,
  untuned: settings === 'default',
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
    // Every minute, at that second of it: of one time a day it would look through the day each time it looks.
    const cron = `${due.getUTCSeconds()} * * * * *`;
    await inHundreds(n, (shop) =>
      first.schedule('fire', cron, { shop, message }, { key: `schedule-${shop}` }),
    );
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

/** One instance forwards 50 a second at most; 32 were no faster than 16 on two cores. */
const fastest = { cronMonitorIntervalSeconds: 1, cronWorkerIntervalSeconds: 1, max: 4 };

export const pgBoss: readonly Peer[] = [
  pgBossWith('default', 1, {}),
  pgBossWith('both cron intervals 1 s, 16 instances', 16, fastest),
];
