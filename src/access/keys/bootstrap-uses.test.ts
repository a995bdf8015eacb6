import { pino } from 'pino';
import { expect, it } from 'vitest';
import { testActor } from '../../../tests/harness/api.ts';
import { onPostgres } from '../../../tests/harness/database.ts';
import { until } from '../../../tests/harness/wait.ts';
import { sql } from '../../database/index.ts';
import { ShiftedClock } from '../../lib/clock.ts';
import { BootstrapUses } from './bootstrap-uses.ts';

onPostgres((_name, open) => {
  it('the first use in an hour is a warning with the address, and a use that cannot be written fails nothing', async () => {
    const db = open();
    const lines: { level: number; ip?: string }[] = [];
    const log = pino({ level: 'warn' }, { write: (line) => void lines.push(JSON.parse(line)) });
    const clock = new ShiftedClock();
    const uses = new BootstrapUses(db, log, clock);
    const actor = { ...testActor, ip: '192.0.2.7' };
    const note = (times: number) => {
      for (let n = 0; n < times; n++) uses.note(actor);
    };

    await db.run((r) => sql`alter table bootstrap_uses rename to away`.execute(r));
    note(3);
    await until(() => lines.length === 1);
    expect(lines[0]).toMatchObject({ level: 50 });
    note(3);
    clock.advance(5_000);
    await db.run((r) => sql`alter table away rename to bootstrap_uses`.execute(r));

    note(3);
    await until(() => lines.length === 2);
    expect(lines[1]).toMatchObject({ level: 40, ip: '192.0.2.7' });
    clock.advance(60_000);
    note(1);
    clock.advance(-3_600_000);
    note(1);
    const audits = await db.run((r) => r.selectFrom('audits').select('action').execute());
    expect(audits).toEqual([{ action: 'bootstrap.use' }]);
    expect(lines).toHaveLength(2);
  });
});
