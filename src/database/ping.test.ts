import pg from 'pg';
import { expect, inject, it, onTestFinished } from 'vitest';
import { startTcpProxy } from '../../tests/harness/tcp-proxy.ts';
import { ping } from './ping.ts';

/** A client of PostgreSQL behind a network that can go silent. */
const open = async () => {
  const url = new URL(inject('postgresUrl'));
  const network = await startTcpProxy(Number(url.port));
  url.host = `127.0.0.1:${network.port}`;
  const client = new pg.Client({ connectionString: url.href, query_timeout: 300 });
  client.on('error', () => {});
  await client.connect();
  onTestFinished(async () => {
    await network[Symbol.asyncDispose]();
    await client.end().catch(() => {});
  });
  return { client, network };
};

it('resolves when the server answers, for which that runs no statement', async () => {
  const { client } = await open();
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  for (let n = 0; n < 3; n++) await ping(client);
  const other = (await open()).client;
  const seen = await other.query('select query, state from pg_stat_activity where pid = $1', [rows[0]!.pid]);
  expect(seen.rows).toEqual([{ query: 'select pg_backend_pid() as pid', state: 'idle' }]);
  expect((await client.query('select 1 as n')).rows).toEqual([{ n: 1 }]);
});

it('rejects when there is no answer in time, and when the connection is lost', async () => {
  const silent = await open();
  silent.network.silent = true;
  await expect(ping(silent.client)).rejects.toThrow('Query read timeout');
  const lost = await open();
  const asked = ping(lost.client);
  lost.network.cut();
  await expect(asked).rejects.toThrow();
  await expect(ping(lost.client)).rejects.toThrow();
});
