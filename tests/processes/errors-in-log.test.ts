import { expect, test } from 'vitest';
import { createMigrated } from '../harness/database.ts';
import { client } from '../harness/http.ts';
import { dropDatabase } from '../harness/postgres.ts';
import { spawnPlatform } from '../harness/process.ts';
import { until } from '../harness/wait.ts';

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
