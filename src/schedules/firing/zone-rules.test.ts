import { expect, it } from 'vitest';
import { onPostgres } from '../../../tests/harness/database.ts';
import { makeAgent } from '../../../tests/harness/work-items.ts';
import { sql } from '../../database/index.ts';
import { newId } from '../../lib/ids.ts';
import type { ScheduleRow } from '../store.ts';
import { recomputeOlderRules } from './zone-rules.ts';

onPostgres((_name, open) => {
  const add = async (zoneRules: string, at: Date): Promise<ScheduleRow> => {
    const db = open();
    const agent = await makeAgent(db);
    return db.run((executor) =>
      executor
        .insertInto('schedules')
        .values({
          id: newId(),
          agent_id: agent,
          cron_expression: '0 3 * * *',
          timezone: 'Europe/Berlin',
          catch_up: true,
          overlap: 'queue',
          message: '',
          payload: '{}',
          metadata: '{}',
          next_run_at: at,
          zone_rules: zoneRules,
        })
        .returningAll()
        .executeTakeFirstOrThrow(),
    );
  };
  const read = async (id: string): Promise<ScheduleRow> =>
    open().run((r) => r.selectFrom('schedules').selectAll().where('id', '=', id).executeTakeFirstOrThrow());
  const inDays = (n: number) => new Date(Date.now() + n * 86_400_000);

  it('recomputes a next run that older zone rules made, strictly after now and the last occurrence', async () => {
    const wrong = inDays(300);
    const older = await add('2020a', wrong);
    const last = inDays(40);
    await open().run((r) =>
      sql`update schedules set last_occurrence = ${last} where id = ${older.id}`.execute(r),
    );
    await recomputeOlderRules(open(), '2026c');
    const now = await read(older.id);
    expect(now.zone_rules).toBe('2026c');
    expect(now.next_run_at!.getTime()).toBeGreaterThan(last.getTime());
    expect(now.next_run_at!.getTime()).toBeLessThan(inDays(42).getTime());
    expect({ revision: now.revision, updated_at: now.updated_at }).toEqual({
      revision: older.revision,
      updated_at: older.updated_at,
    });
  });

  it('leaves alone a next run that newer rules made, one that is due, and a paused schedule', async () => {
    const newer = await add('2099z', inDays(300));
    const due = await add('2020a', inDays(-1));
    const paused = await add('2020a', inDays(1));
    await open().run((r) => sql`update schedules set next_run_at = null where id = ${paused.id}`.execute(r));
    await recomputeOlderRules(open(), '2026c');
    expect((await read(newer.id)).next_run_at).toEqual(newer.next_run_at);
    expect((await read(due.id)).next_run_at).toEqual(due.next_run_at);
    expect((await read(paused.id)).next_run_at).toBeNull();
  });
});
