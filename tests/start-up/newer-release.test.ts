import { expect, it } from 'vitest';
import { listAudits } from '../../src/audit/list-store.ts';
import { sql } from '../../src/database/index.ts';
import { listOccurrences } from '../../src/schedules/occurrence-store.ts';
import { findLockedSchedule, findScheduleOfAgent, listSchedules } from '../../src/schedules/store.ts';
import { eachDatabase } from '../harness/database.ts';

const anyId = '01980000-0000-7000-8000-000000000009';
const all = { limit: 1, from: null, to: null, outcome: null, before: null };
const page = { limit: 1, offset: 0, next: null };

eachDatabase((_name, open) => {
  it.each([
    ['audits', () => open().run((reader) => listAudits(reader, page))],
    ['schedules', () => open().run((reader) => listSchedules(reader, anyId))],
    ['schedules', () => open().run((reader) => findScheduleOfAgent(reader, anyId, anyId))],
    ['schedules', () => open().tx((tx) => findLockedSchedule(tx, anyId))],
    ['occurrences', () => open().run((reader) => listOccurrences(reader, anyId, all))],
  ])('continues to read %s while a newer release adds a column (%#)', async (table, read) => {
    await read();
    await open().tx((tx) =>
      sql`alter table ${sql.table(table)} add column of_a_newer_release text`.execute(tx),
    );
    try {
      await read();
    } finally {
      await open().tx((tx) =>
        sql`alter table ${sql.table(table)} drop column of_a_newer_release`.execute(tx),
      );
    }
    expect(await read()).not.toBeNull();
  });
});
