import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { describeOnPostgres, newAgent, newSchedule, ok } from './fixture.ts';
import { newHook, newTrigger, post, send } from './triggers-fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

describeOnPostgres('triggers in the Overview and in the timeline', (at) => {
  let hours = 20;
  /** A fresh one: what was computed for another number of hours does not count. */
  const overview = async (): Promise<Json> => ok(at().app.get(`/overview?hours=${++hours}`));
  const line = async (kind: string): Promise<Json> =>
    (await overview()).attention.find((one: Json) => one.kind === kind) ?? null;

  test('what came counts by the hour and in the row of its agent, and many invalid events or refusals are a line each', async () => {
    const trigger = await newHook(at(), {
      name: 'Orders',
      filter: 'event.body.n > 0.0',
      mapping: { message: '{{ event.body.text }}' },
    });
    for (let n = 0; n < 3; n++) await send(trigger, { n: 1, text: 'Go' });
    await send(trigger, { n: 0, text: 'Stay' });
    for (let n = 0; n < 9; n++) await send(trigger, { n: 1 });
    expect(await line('events_invalid')).toBeNull();
    const repeated = randomUUID();
    for (let n = 0; n < 2; n++) await send(trigger, { n: 1 }, { id: repeated });
    const agent = await ok(at().api.get(`/agents/${trigger.agent_id}`));
    expect(await line('events_invalid')).toMatchObject({
      severity: 'warning',
      count: 10,
      subject: { type: 'trigger', id: trigger.id, name: 'Orders' },
      title: `10 events of the trigger Orders of ${agent.name} were invalid in the last hour`,
      filter: { outcome: 'invalid' },
    });
    const { triggers } = await overview();
    expect(triggers).toMatchObject({ enabled: 1, paused: 0, blocked: 0 });
    const sums = (of: Json[]) =>
      of.reduce(
        (sum, { fired, other, failed }) => [sum[0] + fired, sum[1] + other, sum[2] + failed],
        [0, 0, 0],
      );
    expect(sums(triggers.per_hour)).toEqual([3, 1, 10]);
    expect(triggers.per_hour.length).toBe(hours + 1);

    const timeline = async (query: string) => (await ok(at().app.get(`/schedules/timeline?${query}`))).data;
    const [row, ...others] = await timeline(`rows=agents&agent_id=${agent.id}`);
    expect([row.id, row.type, row.schedules, row.zone, others]).toEqual([agent.id, 'agent', 0, null, []]);
    expect(sums(row.buckets.map(({ events }: Json) => events))).toEqual([3, 1, 10]);
    expect(Date.now() - Date.parse(row.buckets.at(-1).t)).toBeLessThan(20 * 60_000);
    const worker = await newAgent(at());
    const schedule = await newSchedule(at(), worker.id, { cron_expression: '* * * * *' });
    const rows = await timeline('rows=schedules');
    expect(rows.map(({ id }: Json) => id)).toEqual([schedule.id]);
    expect(rows[0].buckets.every((bucket: Json) => !('events' in bucket))).toBe(true);
    expect(await timeline(`rows=agents&schedule_id=${schedule.id}`)).toMatchObject([
      { id: worker.id, schedules: 1 },
    ]);

    for (let n = 0; n < 100; n++) expect((await post(trigger.url, '{}')).status).toBe(401);
    await expect
      .poll(() => line('webhooks_refused'))
      .toMatchObject({
        severity: 'warning',
        count: 100,
        subject: { type: 'trigger', id: trigger.id },
        title: `100 requests to the trigger Orders of ${agent.name} were refused in the last hour`,
        detail: expect.stringMatching(/^Why: 100 no signature\. /),
      });
  });

  test('triggers that are paused, blocked or behind are counted and named', async () => {
    const watched = await newHook(at(), { name: 'Watched' });
    const absence = await newTrigger(at(), (await newAgent(at(), { name: 'Watcher' })).id, {
      name: 'Nothing came',
      kind: 'absence',
      settings: { agent_id: watched.agent_id, window_seconds: 3_600 },
    });
    const paused = await newHook(at());
    await ok(at().api.post(`/agents/${paused.agent_id}/triggers/${paused.id}/pause`, {}));
    const before = (await overview()).triggers;
    await ok(at().api.delete(`/agents/${watched.agent_id}`), 204);
    const after = (await overview()).triggers;
    expect([after.enabled, after.paused, after.blocked]).toEqual([
      before.enabled - 2,
      before.paused,
      before.blocked + 1,
    ]);
    expect(await line('trigger_blocked')).toMatchObject({
      severity: 'error',
      count: 1,
      subject: { type: 'trigger', id: absence.id, name: 'Nothing came' },
      title: 'The trigger Nothing came of Watcher receives nothing',
      detail: 'What it watches was deleted. Let it watch something else, or delete it.',
    });

    const readings = (seconds: number) => at().sql`
      insert into trigger_readings (trigger_id, state, lag, behind_since)
      values (${absence.id}, 'ok', 12000, now() - ${seconds} * interval '1 second')
      on conflict (trigger_id) do update set behind_since = excluded.behind_since`;
    await readings(30);
    expect(await line('trigger_behind')).toBeNull();
    await readings(120);
    expect(await line('trigger_behind')).toMatchObject({
      severity: 'warning',
      count: 12_000,
      subject: { type: 'trigger', id: absence.id },
      title: 'The trigger Nothing came of Watcher has 12,000 unread messages',
    });
    await at().sql`delete from trigger_readings`;
  });
});
