import { expect, it } from 'vitest';
import { eachDatabase } from '../../tests/harness/database.ts';
import { makeAgent } from '../../tests/harness/work-items.ts';
import { sql } from '../database/index.ts';
import { silentLogger } from '../lib/log.ts';
import { Firing } from './firing.ts';
import { insertSchedule } from './store.ts';

eachDatabase((_name, open) => {
  it('skips what cannot become a Work Item, with a reason without SQL, and fires the rest', async () => {
    const db = open();
    const agent = await makeAgent(db);
    const add = (message: string) =>
      db.tx((tx) =>
        insertSchedule(
          tx,
          agent,
          {
            cron_expression: '0 3 * * *',
            timezone: 'UTC',
            catch_up: true,
            work_item_name: null,
            message,
            payload: {},
            metadata: {},
          },
          { at: new Date(Date.now() - 1_000), zoneRules: '2026c' },
        ),
      );
    const [good, bad, alsoGood] = [await add('good'), await add('bad'), await add('good')];
    await db.read((r) =>
      sql`alter table work_items add constraint no_bad_ones check (message <> 'bad')`.execute(r),
    );
    await new Firing({ db, log: silentLogger }).fireDue();
    const rows = await db.read((r) =>
      r.selectFrom('occurrences').select(['schedule_id', 'outcome', 'reason']).execute(),
    );
    const of = (id: string) => rows.filter((row) => row.schedule_id === id);
    expect(of(good.id)).toMatchObject([{ outcome: 'fired' }]);
    expect(of(alsoGood.id)).toMatchObject([{ outcome: 'fired' }]);
    expect(of(bad.id)).toMatchObject([
      { outcome: 'skipped', reason: 'the Work Item could not be made (error 23514)' },
    ]);
    const { rows: due } = await db.read((r) =>
      sql`select 1 from schedules where next_run_at <= platform_now()`.execute(r),
    );
    expect(due).toEqual([]);
  });
});
