import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { expect, test } from 'vitest';
import { execute, query } from './postgres.ts';
import { startPostgresPair } from './postgres-pair.ts';
import { until } from './wait.ts';

test('a pair keeps what it acknowledged, and a commit on a primary that lost its standby does not return', async () => {
  await using pair = await startPostgresPair();
  expect(await pair.inSync()).toBe(true);
  await execute(pair.url, 'create table kept (n integer)');
  await execute(pair.url, 'insert into kept values (1)');
  await pair.failOver({ aliveForMs: 0 });
  expect(await query(pair.url, 'select n from kept')).toEqual([{ n: 1 }]);
  await execute(pair.url, 'insert into kept values (2)');
  await pair.rebuild();

  const onOld = new pg.Client({ connectionString: pair.url, statement_timeout: 500 });
  onOld.on('error', () => {});
  await onOld.connect();
  let ended = '';
  const before = pair.port;
  const failingOver = pair.failOver({ aliveForMs: 3_000 });
  await until(() => pair.port !== before, 20_000);
  onOld.query('insert into kept values (3)').then(
    () => {
      ended = 'acknowledged';
    },
    () => {
      ended = 'lost';
    },
  );
  await execute(pair.url, 'insert into kept values (4)');
  // Longer than the time limit of its statements, which does not end the wait of a commit.
  await sleep(1_000);
  expect(ended).toBe('');
  await failingOver;
  await until(() => ended !== '');
  expect(ended).toBe('lost');
  expect(await query(pair.url, 'select n from kept order by n')).toEqual([{ n: 1 }, { n: 2 }, { n: 4 }]);
});
