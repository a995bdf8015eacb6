import { beforeEach, expect, it } from 'vitest';
import { eachDatabase } from '../../../tests/harness/database.ts';
import { until } from '../../../tests/harness/wait.ts';
import { makeAgent } from '../../../tests/harness/work-items.ts';
import { type Database, sql } from '../../database/index.ts';
import { newId } from '../../lib/ids.ts';
import { silentLogger } from '../../lib/log.ts';
import { Firing } from './firing.ts';
import { countOverdue } from './store.ts';

const hour = 3_600_000;

eachDatabase((_name, open) => {
  beforeEach(() => open().run((r) => sql`truncate schedules, work_items, occurrences cascade`.execute(r)));

  /** `count` hourly schedules that have been due for `dueMs`. */
  const add = async (count: number, dueMs: number, catchUp = true): Promise<void> => {
    const agent = await makeAgent(open());
    await open().tx((tx) =>
      sql`insert into schedules (id, agent_id, cron_expression, timezone, catch_up, next_run_at, zone_rules)
        select id, ${agent}, '0 * * * *', 'UTC', ${catchUp}, platform_now() - ${dueMs}::int * interval '1 millisecond',
          '2026c' from unnest(${Array.from({ length: count }, newId)}::uuid[]) as id`.execute(tx),
    );
  };

  it('a batch has a span with what was claimed, what became of it and how late; a look that finds nothing has none', async () => {
    const spans: { name: string; attributes: Record<string, unknown> }[] = [];
    let looks = 0;
    const db: Database = {
      ...open(),
      run: (fn) => {
        looks++;
        return open().run(fn);
      },
    };
    const firing = new Firing({
      db,
      log: silentLogger,
      span: (name, fn) =>
        fn((attributes) => {
          spans.push({ name, attributes });
        }),
    });
    firing.start();
    try {
      await until(() => looks > 0);
      // All have been due for hours: two catch up with their latest occurrence, the third skips it.
      await add(2, 2 * hour);
      await add(1, 2 * hour, false);
      firing.wake();
      await until(() => spans.length > 0);
      const seen = looks;
      firing.wake();
      await until(() => looks > seen);
      const [{ name, attributes }, ...others] = spans as [(typeof spans)[0]];
      expect([name, others]).toEqual(['fire schedules', []]);
      const intoTheHour = Date.now() % hour;
      // In the first minute of an hour its occurrence is not late yet.
      const outcome = intoTheHour < 60_000 ? 'fired' : 'caught_up';
      expect(attributes).toMatchObject({
        'agent_platform.schedules.claimed': 3,
        [`agent_platform.occurrences.${outcome}`]: outcome === 'fired' ? 3 : 2,
        'agent_platform.firing.by_halves': false,
      });
      expect(attributes['agent_platform.occurrences.skipped']).toBeGreaterThanOrEqual(6);
      expect(attributes['agent_platform.occurrences.max_lateness_ms']).toBeGreaterThanOrEqual(2 * hour);
    } finally {
      await firing.stop();
    }
  });

  it('countOverdue counts schedules that have been due for more than 5 s, up to 10,000', async () => {
    await add(2, 1_000);
    expect(await open().run(countOverdue)).toBe(0);
    await add(3, 6_000);
    expect(await open().run(countOverdue)).toBe(3);
    await add(10_010, 6_000);
    expect(await open().run(countOverdue)).toBe(10_000);
  });
});
