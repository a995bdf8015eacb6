import { expect, it } from 'vitest';
import { eachDatabase } from '../../tests/harness/database.ts';
import { sql } from '../database/index.ts';
import { readSettings, upsertSetting } from './store.ts';

eachDatabase((_name, open) => {
  it('a change of a setting updates its time', async () => {
    const db = open();
    await db.tx((tx) => upsertSetting(tx, 'RATE_LIMIT_BURST', 7));
    await db.tx((tx) => sql`update advanced_settings set updated_at = '2020-01-01Z'`.execute(tx));
    await db.tx((tx) => upsertSetting(tx, 'RATE_LIMIT_BURST', 8));
    const rows = await db.run((r) => r.selectFrom('advanced_settings').select('updated_at').execute());
    expect(rows[0]!.updated_at.getFullYear()).toBeGreaterThan(2020);
    expect((await db.run(readSettings)).RATE_LIMIT_BURST).toBe(8);
  });
});
