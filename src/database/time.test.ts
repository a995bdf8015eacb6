import { expect, it } from 'vitest';
import { eachDatabase } from '../../tests/harness/database.ts';
import { sql } from './index.ts';

eachDatabase((_name, open) => {
  it('platform_now() is the same within a statement and later in the next one', async () => {
    const times = () =>
      open().run(async (executor) => {
        const { rows } = await sql<{ first: Date; n: number }>`
          select min(now) as first, count(distinct now)::int as n
          from (select platform_now() as now, n from generate_series(1, 100000) n) t`.execute(executor);
        return rows[0]!;
      });
    const before = await times();
    const after = await times();
    expect([before.n, after.n]).toEqual([1, 1]);
    expect(after.first.getTime()).toBeGreaterThan(before.first.getTime());
  });
});
