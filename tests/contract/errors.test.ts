import { describe, expect, test } from 'vitest';
import { createMigrated } from '../harness/database.ts';
import { client } from '../harness/http.ts';
import { dropDatabase } from '../harness/postgres.ts';
import { spawnPlatform } from '../harness/process.ts';
import { until } from '../harness/wait.ts';
import { uuid, withPlatform } from './fixture.ts';

describe('an internal error', () =>
  withPlatform('postgres', (at) => {
    test('is 500 with an error_id and shows nothing internal', async () => {
      await at().sql`alter table agents rename to agents_away`;
      for (const response of [
        await at().api.get('/agents'),
        await at().api.post('/agents', { name: 'x', mode: 'worker' }),
      ]) {
        expect(response.status).toBe(500);
        expect(response.body).toEqual({
          error: {
            error_id: expect.stringMatching(uuid),
            code: 'internal_error',
            message: expect.stringMatching(/^Something went wrong/),
          },
        });
        expect(response.text).not.toMatch(/agents|relation|42P01|stack|\.ts/);
      }
      await at().sql`alter table agents_away rename to agents`;
      expect((await at().api.get('/agents')).status).toBe(200);
    });

    test('inside a transaction leaves nothing behind, and does not use up its Idempotency-Key', async () => {
      await at().sql`alter table audits rename to audits_away`;
      const options = { headers: { 'idempotency-key': 'broken' } };
      expect((await at().api.post('/agents', { name: 'half', mode: 'worker' }, options)).status).toBe(500);
      await at().sql`alter table audits_away rename to audits`;
      expect(await at().sql`select 1 from agents where name = 'half'`).toEqual([]);
      const again = await at().api.post('/agents', { name: 'half', mode: 'worker' }, options);
      expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, null]);
    });
  }));

test('an error is found in the logs of a default start by its error_id, with the request’s id and no secret', async () => {
  const databaseUrl = await createMigrated();
  try {
    await using platform = await spawnPlatform({ databaseUrl });
    const api = client(`${platform.url}/api/v2`, platform.key);
    const headers = { 'x-request-id': 'find-me' };
    const unknown = await api.get('/agents/x?token=in-the-query', { headers });
    const anonymous = await client(`${platform.url}/api/v2`, 'a-wrong-key-of-somebody').get('/agents', {
      headers,
    });
    for (const [response, status] of [
      [unknown, 404],
      [anonymous, 401],
    ] as const) {
      const line = await until(() =>
        platform
          .output()
          .split('\n')
          .find((text) => text.includes(response.body.error.error_id)),
      );
      expect(JSON.parse(line)).toMatchObject({
        request_id: 'find-me',
        status,
        method: 'GET',
        error: response.body.error.message,
      });
    }
    for (const secret of [platform.key, 'a-wrong-key-of-somebody', 'in-the-query'])
      expect(platform.output()).not.toContain(secret);
  } finally {
    await dropDatabase(databaseUrl);
  }
});
