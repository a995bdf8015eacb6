import { expect, test } from 'vitest';
import { eachDatabase } from '../../tests/harness/database.ts';
import { becomes, makeAgent, makeItem, newRuntime } from '../../tests/harness/runtime.ts';
import { until } from '../../tests/harness/wait.ts';
import { sql } from '../database/index.ts';
import { workItemCalls } from '../work-items/index.ts';

eachDatabase((name, open) => {
  test('an end is committed when its trace is durable, and no transaction waits for traces that are slow', async () => {
    let write: (() => void) | null = null;
    const runtime = await newRuntime(open(), {
      flush: () =>
        new Promise<void>((resolve) => {
          write = resolve;
        }),
    });
    runtime.start();
    const waiting = async (): Promise<number> => {
      const { rows } = await open().run((executor) =>
        sql<{ n: number }>`select count(*)::int as n from pg_stat_activity
          where datname = current_database() and state = 'idle in transaction'`.execute(executor),
      );
      return rows[0]!.n;
    };
    try {
      const agent = await makeAgent(open());
      for (const isFirst of [true, false]) {
        const { id } = await makeItem(open(), agent);
        await until(() => write !== null);
        // Longer than traces may take before transactions stop waiting for them.
        await new Promise((resolve) => setTimeout(resolve, 100));
        // The embedded database has one connection: it responds only if no transaction waits.
        const { status } = await open().run((executor) => workItemCalls.get(executor, id));
        expect(status).toBe('EXECUTING');
        if (name === 'postgres') expect(await waiting()).toBe(isFirst ? 1 : 0);
        write!();
        write = null;
        await becomes(open(), id, 'COMPLETED');
      }
    } finally {
      await runtime.stop();
    }
  });
});
