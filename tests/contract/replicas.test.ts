import { describe, expect, test } from 'vitest';
import { sql } from '../../src/database/index.ts';
import { until } from '../harness/wait.ts';
import {
  expectError,
  type Fixture,
  newAgent,
  newKey,
  newSchedule,
  ok,
  query,
  setSettings,
  useReplicas,
} from './fixture.ts';

describe('two replicas on one database', () => {
  let a: Fixture;
  let b: Fixture;
  useReplicas((...replicas) => {
    [a, b] = replicas;
  });

  test('a key revoked on one replica is refused by the other within a second, though it was just used there', async () => {
    const key = await newKey(a, 'member');
    await ok(b.as(key.value).get('/agents'));
    await ok(a.api.delete(`/api-keys/${key.id}`), 204);
    await until(async () => (await b.as(key.value).get('/agents')).status === 401, 1_000);
  });

  test('a setting takes effect on both at once', async () => {
    const { id } = await newAgent(a);
    for (const most of [0, 1, 0]) {
      await setSettings(a, { MAX_SCHEDULES_PER_AGENT: most });
      const response = await b.api.post(`/agents/${id}/schedules`, { cron_expression: '0 0 * * *' });
      expect(response.status).toBe(most === 1 ? 200 : 400);
    }
    await setSettings(b, { RATE_LIMIT_BURST: 1_234 });
    await until(
      async () => (await a.api.get('/agents')).headers.get('ratelimit-policy')?.includes('q=1234'),
      1_000,
    );
    await setSettings(a, { MAX_SCHEDULES_PER_AGENT: 20, RATE_LIMIT_BURST: 2_000 });
  });

  test('of 30 equal requests to both, one makes the resource', async () => {
    const { id } = await newAgent(a);
    const send = (n: number) =>
      [a, b][n % 2]!.api.post(
        `/agents/${id}/schedules`,
        { cron_expression: '0 0 * * *' },
        { headers: { 'idempotency-key': 'both' } },
      );
    const responses = await Promise.all(Array.from({ length: 30 }, (_, n) => send(n)));
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
    expect((await ok(b.api.get(`/agents/${id}/schedules`))).data).toEqual([responses[0]!.body]);
  });

  test('of 30 creates on both, exactly 20 succeed', async () => {
    const { id } = await newAgent(a);
    const responses = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        [a, b][n % 2]!.api.post(`/agents/${id}/schedules`, { cron_expression: '0 0 * * *' }),
      ),
    );
    expect(responses.filter(({ status }) => status === 200).length).toBe(20);
    for (const response of responses.filter(({ status }) => status !== 200)) {
      expectError(response, 400, /20/, { setting: 'MAX_SCHEDULES_PER_AGENT' });
    }
  });

  test('a claim that waits on one replica gets what is created on the other, at once', async () => {
    const { id } = await newAgent(a, { execution: 'external' });
    const waiting = ok(b.api.post('/work-items/claim', { agent_ids: [id], wait_seconds: 20 }));
    // So that it waits: its first look found nothing.
    await new Promise((resolve) => setTimeout(resolve, 200));
    const item = await ok(a.api.post('/work-items', { agent_id: id }));
    const began = performance.now();
    const { records } = await waiting;
    expect(records[0].work_item.id).toBe(item.id);
    expect(performance.now() - began).toBeLessThan(15_000);
    const body = { lease_token: records[0].lease_token, outcome: 'COMPLETED' };
    expect((await ok(a.api.post(`/work-items/${item.id}/finish`, body))).status).toBe('COMPLETED');
  });

  test('both together fire each of 3,000 schedules that are due at once exactly once', async () => {
    const agent = await newAgent(a, { settings: { max_concurrency: 1 } });
    const { id } = await newSchedule(a, agent.id, { cron_expression: '* * * * *' });
    await query(
      a,
      sql`insert into schedules (id, agent_id, cron_expression, timezone, next_run_at, zone_rules)
        select gen_random_uuid(), agent_id, '0 0 1 1 *', 'UTC', date_trunc('year', now()), zone_rules
        from schedules, generate_series(1, 3000) n where id = ${id}`,
    );
    await ok(a.api.delete(`/agents/${agent.id}/schedules/${id}`), 204);
    a.test.platform.features.schedules.firing.wake();
    b.test.platform.features.schedules.firing.wake();
    const made = () =>
      query(
        a,
        sql`select count(*)::int as made, count(distinct schedule_id)::int as schedules from work_items where agent_id = ${agent.id}`,
      );
    await until(async () => (await made())[0].schedules === 3_000, 20_000, 100);
    expect(await made()).toEqual([{ made: 3_000, schedules: 3_000 }]);
    const rows = await query(
      a,
      sql`select outcome, count(*)::int as n from occurrences o join schedules s on s.id = o.schedule_id
      where s.agent_id = ${agent.id} group by 1`,
    );
    expect(rows).toEqual([{ outcome: 'caught_up', n: 3_000 }]);
    await ok(b.api.delete(`/agents/${agent.id}`), 204);
  });
});
