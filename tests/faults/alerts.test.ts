import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { createMigrated } from '../harness/database.ts';
import { client } from '../harness/http.ts';
import { listen } from '../harness/listen.ts';
import { dropDatabase, execute } from '../harness/postgres.ts';
import { adminKey, spawnPlatform } from '../harness/process.ts';
import { until } from '../harness/wait.ts';

/** A service that expects calls. */
const startReceiver = async () => {
  const calls: string[] = [];
  const server = createServer((request, response) => {
    calls.push(`${request.method} ${request.url}`);
    response.writeHead(204).end();
  });
  const { origin, close } = await listen(server);
  return { origin, calls, [Symbol.asyncDispose]: close };
};

test('when every scheduler is killed, the others fire one alert each for what is wrong, and the heartbeat ends', async () => {
  const databaseUrl = await createMigrated();
  try {
    await using receiver = await startReceiver();
    const env = { HEARTBEAT_URL: `${receiver.origin}/secret-path`, HEARTBEAT_SECONDS: '10' };
    const start = (roles: string) =>
      spawnPlatform({ databaseUrl, env: { ...env, ROLES: `${roles},delivery` } });
    await using shown = await start('api');
    const api = client(`${shown.url}/api/v2`, adminKey);
    const made = async (path: string, body: object) => {
      const { status, body: resource, text } = await api.post(path, body);
      expect(status, text).toBe(200);
      return resource;
    };
    const firing = async (ruleId: string) => (await api.get(`/alerts?rule_id=${ruleId}`)).body.data;

    // It takes over nothing, and is one more that looks.
    await using other = await start('api');
    expect(receiver.calls).toEqual([]);
    await using first = await start('scheduler');
    await using second = await start('scheduler');
    await until(() => receiver.calls.length >= 2);
    expect(new Set(receiver.calls)).toEqual(new Set(['GET /secret-path']));
    // Made now: that no replica was scheduling before does not count.
    const scheduler = await made('/alert-rules', {
      name: 'x',
      kind: 'no_scheduler',
      params: { seconds: 15 },
    });
    // The first rule of the kind counts; it is the older one.
    const { data } = (await api.get('/alert-rules?limit=200')).body;
    for (const { id, kind } of data)
      if (id !== scheduler.id && ['no_scheduler', 'missed'].includes(kind))
        await api.delete(`/alert-rules/${id}`);
    const missed = await made('/alert-rules', { name: 'x', kind: 'missed', params: { grace_seconds: 10 } });
    const agent = await made('/agents', { name: 'Reporter', mode: 'worker', execution: 'external' });
    const schedule = await made(`/agents/${agent.id}/schedules`, { cron_expression: '0 0 1 1 *' });
    await first.kill('SIGKILL');
    const before = receiver.calls.length;
    await until(() => receiver.calls.length > before, 30_000);
    await second.kill('SIGKILL');
    const last = receiver.calls.length;
    await execute(
      databaseUrl,
      `update schedules set next_run_at = platform_now() + interval '1 second' where id = '${schedule.id}'`,
    );

    await until(async () => (await firing(scheduler.id)).length > 0, 60_000);
    await until(async () => (await firing(missed.id)).length > 0, 60_000);
    expect(await firing(scheduler.id)).toMatchObject([
      { kind: 'no_scheduler', state: 'firing', subject: null },
    ]);
    expect(await firing(missed.id)).toMatchObject([{ state: 'firing', subject: { id: schedule.id } }]);
    expect(receiver.calls).toHaveLength(last);
    for (const replica of [shown, other, first, second])
      expect(replica.output()).not.toContain('secret-path');

    await using third = await start('scheduler');
    await until(async () => (await firing(scheduler.id))[0].state === 'resolved', 60_000);
    await until(() => receiver.calls.length > last, 30_000);
    expect([(await firing(scheduler.id)).length, (await firing(missed.id)).length]).toEqual([1, 1]);
    expect(third.output()).not.toContain('secret-path');
  } finally {
    await dropDatabase(databaseUrl);
  }
}, 400_000);
