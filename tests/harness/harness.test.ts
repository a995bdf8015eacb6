import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { describe, expect, inject, test } from 'vitest';
import { client, rawRequest } from './http.ts';
import { createDatabase, dropDatabase, startPostgres } from './postgres.ts';
import { spawnPlatform } from './process.ts';
import { until } from './wait.ts';

async function rows(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const connection = new pg.Client({ connectionString: url });
  await connection.connect();
  try {
    return (await connection.query(sql)).rows;
  } finally {
    await connection.end();
  }
}

const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe('PostgreSQL', () => {
  test('the one of the run is a real PostgreSQL, 18 unless another is chosen, in UTF-8, with room for 200 connections', async () => {
    const [row] = await rows(
      inject('postgresUrl'),
      `select current_setting('server_version_num')::int / 10000 as major, current_setting('server_encoding') as encoding,
         current_setting('max_connections') as connections, current_setting('fsync') as fsync`,
    );
    const major = process.env.POSTGRES_FOLDER ? expect.any(Number) : 18;
    expect(row).toEqual({ major, encoding: 'UTF8', connections: '200', fsync: 'off' });
  });

  test('a database created from a template contains what the template contains', async () => {
    const template = await createDatabase(inject('postgresUrl'));
    await rows(template, 'create table things as select 42 as n');
    const copy = await createDatabase(inject('postgresUrl'), undefined, new URL(template).pathname.slice(1));
    expect(await rows(copy, 'select n from things')).toEqual([{ n: 42 }]);
    await dropDatabase(copy);
    await dropDatabase(template);
    await expect(rows(copy, 'select 1')).rejects.toThrow('does not exist');
  });

  test('what was committed is there after SIGKILL and restart, and nothing is left after stop', async () => {
    const postgres = await startPostgres({ durable: true });
    const url = await postgres.createDatabase('kept');
    await rows(url, 'create table things as select 7 as n');
    expect(await rows(url, 'show fsync')).toEqual([{ fsync: 'on' }]);
    await postgres.kill('SIGKILL');
    expect(postgres.pid).toBeNull();
    await expect(rows(url, 'select 1')).rejects.toThrow();
    await postgres.restart();
    expect(await rows(url, 'select n from things')).toEqual([{ n: 7 }]);
    const pid = postgres.pid!;
    await postgres.stop();
    expect([alive(pid), existsSync(postgres.dataDir)]).toEqual([false, false]);
  });

  test('neither server nor folder outlive a test process that was killed', async () => {
    const code = `import { startPostgres } from '${import.meta.dirname}/postgres.ts';
      const { url, dataDir } = await startPostgres();
      console.log(JSON.stringify({ url, dataDir }));`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [line] = await once(child.stdout, 'data');
    const { url, dataDir } = JSON.parse(String(line));
    expect(await rows(url, 'select 1 as n')).toEqual([{ n: 1 }]);
    child.kill('SIGKILL');
    await until(() => !existsSync(dataDir));
    await expect(rows(url, 'select 1')).rejects.toThrow('ECONNREFUSED');
  });
});

describe('a platform process', () => {
  const program = 'tests/harness/fixture-server.ts';

  test('is ready when it is returned, ends on a signal, and leaves no folder', async () => {
    const platform = await spawnPlatform({ program });
    expect((await client(platform.url).get('/readyz')).status).toBe(200);
    expect(platform.output()).toContain('listening');
    expect(await platform.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    await platform.stop();
    expect([alive(platform.pid), existsSync(platform.dataDir)]).toEqual([false, false]);
  });

  test('that ends before it is ready is reported with its output, at once', async () => {
    await expect(spawnPlatform({ program, env: { FAIL: 'no good configuration' } })).rejects.toThrow(
      /did not become ready.*"code":2.*no good configuration/s,
    );
  });

  test('is killed when it leaves the scope of its test', async () => {
    let pid: number;
    {
      await using platform = await spawnPlatform({ program });
      pid = platform.pid;
      expect(alive(pid)).toBe(true);
    }
    expect(alive(pid)).toBe(false);
  });
});

describe('HTTP', () => {
  /** Responds with what it was sent. */
  async function echo() {
    const server = createServer((request, response) => {
      request.setEncoding('utf8');
      let body = '';
      request.on('data', (chunk: string) => {
        body += chunk;
      });
      request.on('end', () =>
        response
          .writeHead(418, { 'content-type': 'application/json' })
          .end(JSON.stringify({ method: request.method, url: request.url, headers: request.headers, body })),
      );
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { server, port: (server.address() as AddressInfo).port };
  }

  test('the client sends JSON with the key, returns any status, and lets headers be changed', async () => {
    const { server, port } = await echo();
    const api = client(`http://127.0.0.1:${port}/api/v2`, 'secret');
    const made = await api.post('/agents?x=1', { name: 'é' }, { headers: { 'if-match': '"1"' } });
    expect(made.status).toBe(418);
    expect(made.body).toMatchObject({ method: 'POST', url: '/api/v2/agents?x=1', body: '{"name":"é"}' });
    expect(made.body.headers).toMatchObject({
      authorization: 'Bearer secret',
      'content-type': 'application/json',
      'if-match': '"1"',
    });
    const raw = await api.raw('PUT', '', '{', { headers: { authorization: null } });
    expect(raw.body).toMatchObject({ method: 'PUT', body: '{' });
    expect(raw.body.headers).not.toHaveProperty('authorization');
    expect(raw.body.headers).not.toHaveProperty('content-type');
    expect((await api.delete('/agents/1')).body.headers).not.toHaveProperty('content-type');
    server.close();
  });

  test('bytes go out as they are: a malformed request gets its 400 and a closed connection', async () => {
    const { server, port } = await echo();
    const bad = await rawRequest(port, 'GET / HTTP/1.1\r\nHo st: x\r\n\r\n');
    expect([bad.status, bad.closed]).toEqual([400, true]);
    const good = await rawRequest(port, 'GET /a HTTP/1.1\r\nHost: x\r\n\r\n');
    expect([good.status, good.headers['content-type'], good.closed]).toEqual([
      418,
      'application/json',
      false,
    ]);
    expect(good.text).toContain('"url":"/a"');
    await expect(rawRequest(port, 'GET /never', 50)).rejects.toThrow('no complete response');
    server.closeAllConnections();
    server.close();
  });
});

test('waiting ends with the result, and otherwise says why there was none', async () => {
  let n = 0;
  expect(await until(() => ++n > 3 && n, 1_000, 1)).toBe(4);
  await expect(
    until(
      () => {
        throw new Error('no door');
      },
      20,
      5,
    ),
  ).rejects.toThrow('not so after 20 ms: no door');
});
