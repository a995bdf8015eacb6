import { expect, test } from 'vitest';
import { withDatabase } from '../../tests/harness/database.ts';
import { until } from '../../tests/harness/wait.ts';
import { makeAgent } from '../../tests/harness/work-items.ts';
import { databaseNow, sql } from '../database/index.ts';
import { lockAgentMode } from './agents.ts';

// The embedded database has one connection: no one waits for a lock there.
withDatabase('postgres', (open) => {
  test('a lock that waited comes with the time when it was held, not when it was asked for', async () => {
    const db = open();
    const agent = await makeAgent(db);
    const held = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const first = db.tx(async (tx) => {
      await lockAgentMode(tx, agent);
      held.resolve();
      await goOn.promise;
      return databaseNow(tx);
    });
    await held.promise;
    const second = db.tx((tx) => lockAgentMode(tx, agent));
    await until(() =>
      db.run(async (executor) => {
        const { rows } = await sql`select 1 from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(executor);
        return rows.length > 0;
      }),
    );
    goOn.resolve();
    const released = await first;
    expect((await second).now.getTime()).toBeGreaterThanOrEqual(released);
  });
});
