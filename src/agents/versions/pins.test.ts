import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { eachDatabase } from '../../../tests/harness/database.ts';
import { makeAgent } from '../../../tests/harness/work-items.ts';
import { sql } from '../../database/index.ts';
import { workItemCalls } from '../../work-items/index.ts';

/** Always the same ids, so that the share of the canary is the same in each run. */
const idOf = (group: number, n: number): string =>
  `00000000-0000-7000-8${String(group).padStart(3, '0')}-${String(n).padStart(12, '0')}`;

eachDatabase((_name, open) => {
  test('a canary of 10 % takes 10 % of 10,000 keys within a point, and a schedule keeps its arm', async () => {
    const db = open();
    const agent = await makeAgent(db, { max_concurrency: 1_000 });
    const canary = {
      id: idOf(1, 0),
      version: 2,
      percent: 10,
      until: null,
      rollback_when: null,
      started_at: '',
    };
    await db.tx((tx) =>
      sql`update agents set canary = ${JSON.stringify(canary)}::jsonb where id = ${agent}`.execute(tx),
    );
    const arms = new Map<string, Set<number>>();
    const total = 10_000;
    /** Schedules that no longer exist do as keys: every fifth Work Item has one of 200. */
    const schedules = Array.from({ length: 200 }, (_, n) => idOf(2, n));
    for (let n = 0; n < total / 1_000; n++) {
      await db.tx((tx) =>
        sql`insert into work_items (id, conversation_id, agent_id, schedule_id, message, payload, status, created_by)
          select g.id, g.id, ${agent}, case when g.n % 5 = 0 then (${schedules}::uuid[])[1 + (g.n / 5)::int % 200] end,
            '', '{}', 'PENDING', 'tester'
          from unnest(${Array.from({ length: 1_000 }, (_, i) => idOf(3, 1_000 * n + i))}::uuid[]) with ordinality as g(id, n)`.execute(
          tx,
        ),
      );
      for (let claimed = 0; claimed < 1_000; ) {
        const items = await db.tx((tx) =>
          workItemCalls.claim(tx, { owner: 'w', limit: 250, leaseSeconds: 30 }),
        );
        expect(items.length).toBeGreaterThan(0);
        claimed += items.length;
        for (const { id, schedule_id, agent_version } of items) {
          const key = schedule_id ?? id;
          const hash = createHash('sha256').update(`${canary.id}:${key}`).digest().readUInt32BE(0);
          expect(agent_version).toBe(hash % 10_000 < 1_000 ? 2 : 1);
          arms.set(key, (arms.get(key) ?? new Set()).add(agent_version!));
        }
      }
      await db.tx((tx) =>
        sql`update work_items set status = 'COMPLETED', lease_expires_at = null, lease_owner = null
          where agent_id = ${agent} and status = 'EXECUTING'`.execute(tx),
      );
    }
    expect([...arms.values()].filter((versions) => versions.size > 1)).toEqual([]);
    const own = [...arms.values()].filter((versions) => versions.has(2)).length / arms.size;
    expect(own).toBeGreaterThan(0.09);
    expect(own).toBeLessThan(0.11);
  }, 120_000);
});
