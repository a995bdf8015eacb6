import { AsyncLocalStorage } from 'node:async_hooks';
import { availableParallelism } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { beforeEach, expect, it } from 'vitest';
import { onPostgres } from '../../../tests/harness/database.ts';
import { fireHerd } from '../../../tests/harness/firing.ts';
import { until } from '../../../tests/harness/wait.ts';
import { makeAgent } from '../../../tests/harness/work-items.ts';
import { type Database, sql, type Tx } from '../../database/index.ts';
import { newId } from '../../lib/ids.ts';
import { lookAhead } from './store.ts';

onPostgres((name, open) => {
  beforeEach(async () => {
    await open().run((r) => sql`truncate schedules, work_items, occurrences cascade`.execute(r));
    const agent = await makeAgent(open());
    await open().tx((tx) =>
      sql`insert into schedules (id, agent_id, cron_expression, timezone, next_run_at, zone_rules)
        select id, ${agent}, '0 3 * * *', 'UTC', platform_now() - interval '1 second', '2026c'
        from unnest(${Array.from({ length: 1_200 }, newId)}::uuid[]) as id`.execute(tx),
    );
  });

  const severalSlots = name === 'postgres' && availableParallelism() > 1;

  it.runIf(severalSlots)(
    'a slot that fails while another one fires ends neither the process nor the herd',
    async () => {
      let batches = Number.NaN;
      let failed = false;
      const db: Database = {
        ...open(),
        run: (fn) => {
          // The rules of the zones are checked before the first look, in a transaction too.
          if ((fn as unknown) === lookAhead && Number.isNaN(batches)) batches = 0;
          return open().run(fn);
        },
        tx: async <T>(fn: (tx: Tx) => Promise<T>): Promise<T> => {
          const batch = ++batches;
          if (batch === 2) {
            failed = true;
            throw new Error('the connection of the second slot was lost');
          }
          return open().tx(async (tx) => {
            const result = await fn(tx);
            // A rejection that nobody handles is known after the microtasks: the test run fails of it, and a process ends.
            if (batch === 1) await until(() => failed).then(() => setImmediate());
            return result;
          });
        },
      };
      await fireHerd({ db }, 1_200);
      expect(failed).toBe(true);
    },
  );

  it('no batch is inside the span of another one', async () => {
    const span = new AsyncLocalStorage<true>();
    const inside: (true | undefined)[] = [];
    await fireHerd(
      {
        db: open(),
        span: (_name, fn) => {
          inside.push(span.getStore());
          return span.run(true, () => fn(() => {}));
        },
      },
      1_200,
    );
    expect(inside.length).toBeGreaterThanOrEqual(3);
    expect(new Set(inside)).toEqual(new Set([undefined]));
  });
});
