import { expect, test } from 'vitest';
import { eachDatabase } from '../../tests/harness/database.ts';
import { sql } from '../database/index.ts';
import { silentLogger } from '../lib/log.ts';
import { AlertChanges } from './alerts.ts';
import { AlertPass, type TimedPass } from './pass.ts';

eachDatabase((_name, open) => {
  /** Runs one look of a replica. Returns its statements, and how often the timed pass ran. */
  const look = async (mayBeDue: TimedPass['mayBeDue']) => {
    const statements: string[] = [];
    let ran = 0;
    const run: TimedPass['run'] = async () => {
      ran++;
    };
    const parts = { db: open(), log: silentLogger, changes: new AlertChanges(null) };
    const pass = new AlertPass({ ...parts, passes: [{ mayBeDue, run }] });
    open().onStatement(({ text }) => void statements.push(text));
    const error = await pass.run().then(
      () => null,
      (failure: Error) => failure.message,
    );
    open().onStatement(() => {});
    return { statements, ran, error };
  };
  const setLast = (seconds: number) =>
    open().run((executor) =>
      sql`update alert_pass set at = platform_now() - make_interval(secs => ${seconds})`.execute(executor),
    );
  const setScheduling = () =>
    open().run((executor) =>
      sql`insert into replicas (id, name, roles, version, scheduling_at)
        values (gen_random_uuid(), 'one', '{scheduler}', '1', platform_now())`.execute(executor),
    );
  const firing = async (): Promise<string[]> => {
    const { rows } = await open().run((executor) =>
      sql<{ kind: string }>`select kind from alerts where state = 'firing'`.execute(executor),
    );
    return rows.map(({ kind }) => kind);
  };

  test('a look that finds nothing asks once for all kinds, and for what else may be due', async () => {
    await setScheduling();
    await setLast(10);
    const { statements, ran, error } = await look(sql`false`);
    expect({ ran, error, fires: await firing() }).toEqual({ ran: 0, error: null, fires: [] });
    expect(statements.filter((text) => text.startsWith('savepoint'))).toHaveLength(1);
    expect(statements.length).toBeLessThan(11);
  });

  test('what else is due is done, and by a replica that finds that another one has just looked', async () => {
    await setLast(10);
    expect((await look(sql`true`)).ran).toBe(1);
    expect((await look(sql`false`)).ran).toBe(1);
  });

  test('a kind that has something to say is looked at, and so is one whose alert fires, until it is over', async () => {
    await open().run((executor) => sql`delete from replicas`.execute(executor));
    await open().run((executor) =>
      sql`update alert_rules set created_at = created_at - interval '1 day'`.execute(executor),
    );
    await open().run((executor) =>
      sql`update migrations set applied_at = applied_at - interval '1 day' where name like '0130\\_%'`.execute(
        executor,
      ),
    );
    await setLast(10);
    await look(sql`false`);
    expect(await firing()).toEqual(['no_scheduler']);
    await setScheduling();
    await setLast(10);
    await look(sql`false`);
    expect(await firing()).toEqual([]);
  });

  test('if it cannot be asked, every kind is looked at, and the failure is reported', async () => {
    await open().run((executor) => sql`delete from replicas`.execute(executor));
    await setLast(10);
    const { ran, error } = await look(sql`1 / (select count(*) from replicas) = 1`);
    expect({ ran, error }).toEqual({ ran: 1, error: 'division by zero' });
    expect(await firing()).toEqual(['no_scheduler']);
  });
});
