import { beforeEach, expect, it } from 'vitest';
import { onPostgres } from '../../../tests/harness/database.ts';
import { until } from '../../../tests/harness/wait.ts';
import { makeAgent } from '../../../tests/harness/work-items.ts';
import { type Database, offlineDatabase, sql } from '../../database/index.ts';
import { newId } from '../../lib/ids.ts';
import { silentLogger } from '../../lib/log.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { Firing } from './firing.ts';
import { createFiringMetrics } from './metrics.ts';
import { countOverdue } from './store.ts';

const hour = 3_600_000;

onPostgres((_name, open) => {
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

it('the metrics count occurrences by outcome and poison under one reason, and begin at 0', async () => {
  const { list, observe } = createFiringMetrics(offlineDatabase);
  const { read } = createMetrics(list);
  const lines = async () => (await read()).text.split('\n');
  const total = 'agent_platform_occurrences_total';
  expect(await lines()).toEqual(
    expect.arrayContaining([
      `${total}{outcome="skipped",reason="missed"} 0`,
      `${total}{outcome="skipped",reason="cannot fire"} 0`,
    ]),
  );
  observe([
    { outcome: 'fired', count: 1, latenessMs: 200, reason: null },
    { outcome: 'skipped', count: 5, latenessMs: 9_000, reason: 'missed' },
    { outcome: 'skipped', count: 1, latenessMs: 0, reason: 'the agent does not exist' },
    { outcome: 'skipped', count: 1, latenessMs: 0, reason: 'the Work Item could not be made (error 23514)' },
  ]);
  expect(await lines()).toEqual(
    expect.arrayContaining([
      `${total}{outcome="fired",reason=""} 1`,
      `${total}{outcome="skipped",reason="missed"} 5`,
      `${total}{outcome="skipped",reason="cannot fire"} 2`,
      'agent_platform_occurrence_lateness_seconds_count 1',
      'agent_platform_occurrence_lateness_seconds_sum 0.2',
      // No database can be reached here.
      'agent_platform_schedules_overdue Nan',
    ]),
  );
});
