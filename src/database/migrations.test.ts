import { expect, inject, onTestFinished, test } from 'vitest';
import { createDatabase, dropDatabase } from '../../tests/harness/postgres.ts';
import { silentLogger } from '../lib/log.ts';
import { migrate, openPostgres, sql } from './index.ts';

test('a time limit of the role or database, as a pooler needs it, does not end a migration', async () => {
  const url = await createDatabase(inject('postgresUrl'));
  onTestFinished(() => dropDatabase(url));
  const first = await openPostgres(url, silentLogger, 1);
  // Notes the limit at each statement of a migration.
  await first.run((executor) =>
    sql
      .raw(`create table limits (setting text primary key);
      create function note_limit() returns event_trigger language plpgsql as $$ begin
        insert into limits values (current_setting('statement_timeout')) on conflict do nothing;
      end $$;
      create event trigger note on ddl_command_start execute function note_limit();
      do $$ begin execute format('alter database %I set statement_timeout = 30000', current_database()); end $$`)
      .execute(executor),
  );
  await first.close();
  const db = await openPostgres(url, silentLogger, 1, 0);
  onTestFinished(() => db.close());
  await migrate(db, silentLogger);
  const { rows } = await db.run((executor) =>
    sql`select setting from limits where setting <> '0'`.execute(executor),
  );
  expect(rows).toEqual([]);
});
