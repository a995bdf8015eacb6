import { beforeAll, beforeEach, expect, test } from 'vitest';
import { announcer } from '../../src/channels/index.ts';
import { newId } from '../../src/lib/ids.ts';
import { Looks, withoutRules } from './alerts-fixture.ts';
import { newChannel } from './channels-fixture.ts';
import { expectError, newAgent, newKey, newSchedule, ok, onEachDatabase, time, uuid } from './fixture.ts';
import { newHook } from './triggers-fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

const [minute, hour, day] = [60, 3_600, 86_400];

onEachDatabase((at) => {
  const looks = new Looks(at);
  beforeAll(() => looks.stopOwn());
  beforeEach(async () => {
    await withoutRules(at());
    await looks.after(10);
  });

  const newRule = (kind: string, fields: object = {}): Promise<Json> =>
    ok(at().api.post('/alert-rules', { name: kind, kind, ...fields }));
  /** The one alert of a rule that fires; null if none does. */
  const firing = async (rule: Json): Promise<Json> => {
    const found = await looks.alerts(`state=firing&rule_id=${rule.id}`);
    expect(found.length).toBeLessThan(2);
    return found[0] ?? null;
  };
  const total = async (rule: Json): Promise<number> => (await looks.alerts(`rule_id=${rule.id}`)).length;
  /** A rule that was made long ago: what happened by the shifted clock counts. */
  const oldRule = async (kind: string, fields: object = {}): Promise<Json> => {
    const rule = await newRule(kind, fields);
    await at().sql`update alert_rules set created_at = now() - interval '2 days' where id = ${rule.id}`;
    return rule;
  };

  /** A schedule that fires once a year, and is due in so many seconds by the clock of the looks. */
  const newDue = async (seconds: number, agentId?: string): Promise<Json> => {
    const id = agentId ?? (await newAgent(at())).id;
    const schedule = await newSchedule(at(), id, { cron_expression: '0 0 1 1 *', work_item_name: 'Nightly' });
    await setDue(schedule, looks.now(seconds));
    return schedule;
  };
  const setDue = ({ id }: Json, due: Date | null) =>
    at().sql`update schedules set next_run_at = ${due} where id = ${id}`;
  /** Records what became of an occurrence that was due so many seconds before now. */
  const handled = (
    { id }: Json,
    {
      outcome = 'fired',
      late = 0,
      reason = null,
    }: { outcome?: string; late?: number; reason?: string | null },
  ) =>
    at().sql`insert into occurrences (id, schedule_id, scheduled_for, outcome, at, reason)
      values (${newId()}, ${id}, ${looks.now(-late)}, ${outcome}, ${looks.now()}, ${reason})`;

  test('an occurrence that is due and does not fire is one alert within 60 s, until one is in time', async () => {
    const rule = await newRule('missed', { severity: 'warning', params: { grace_seconds: 60 } });
    const schedule = await newDue(5 * minute);
    await looks.after(5 * minute + 59);
    expect(await firing(rule)).toBeNull();
    await looks.after(10, 4);
    const alert = await firing(rule);
    expect(alert).toEqual({
      id: expect.stringMatching(uuid),
      rule_id: rule.id,
      kind: 'missed',
      severity: 'warning',
      subject: { type: 'schedule', id: schedule.id, name: 'Nightly' },
      agent_id: schedule.agent_id,
      state: 'firing',
      count: 1,
      title: expect.stringMatching(/^Nightly was due at .*\(UTC\) and has not fired$/),
      detail: expect.any(String),
      url: `${at().test.origin}/alerts/${alert.id}`,
      fired_at: expect.stringMatching(time),
      resolved_at: null,
      acknowledged_at: null,
      acknowledged_by: null,
      note: null,
      messages: [],
    });
    // It is recorded as missed, and still the same alert; so is one that fires late.
    await setDue(schedule, looks.now(hour));
    await handled(schedule, { outcome: 'skipped', late: 2 * minute, reason: 'missed' });
    await looks.after(10);
    await handled(schedule, { outcome: 'caught_up', late: 90 });
    await looks.after(10);
    expect((await firing(rule)).id).toBe(alert.id);
    await handled(schedule, { late: 1 });
    await looks.after(10);
    expect(await firing(rule)).toBeNull();
    expect(await ok(at().api.get(`/alerts/${alert.id}`))).toMatchObject({
      state: 'resolved',
      resolved_at: expect.stringMatching(time),
    });
    // The record is seen again, and is no second alert; another one is.
    await looks.after(10);
    expect(await total(rule)).toBe(1);
    await handled(schedule, { outcome: 'skipped', late: 2 * minute, reason: 'missed' });
    await looks.after(10);
    expect((await firing(rule)).title).toMatch(/^Nightly missed its occurrence of /);
    expect(await total(rule)).toBe(2);
  });

  test('a missed occurrence that is followed by one in time at once is an alert that was resolved', async () => {
    const rule = await newRule('missed');
    const schedule = await newDue(day);
    await handled(schedule, { outcome: 'skipped', late: 10 * minute, reason: 'missed' });
    await handled(schedule, { late: 5 });
    await looks.after(10);
    expect(await firing(rule)).not.toBeNull();
    await looks.after(10);
    expect([await firing(rule), await total(rule)]).toEqual([null, 1]);
  });

  test('a schedule that cannot fire is an alert, until it is edited; pausing and deleting resolve as well', async () => {
    const rule = await newRule('missed', { params: { grace_seconds: 10 } });
    const [blocked, paused, deleted, endless] = await Promise.all([
      newDue(day),
      newDue(minute),
      newDue(minute),
      newDue(day),
    ]);
    await setDue(endless, null);
    await at().sql`update schedules set last_outcome = 'blocked' where id = ${blocked.id}`;
    await handled(blocked, { outcome: 'skipped', late: 1, reason: 'the agent does not exist' });
    await looks.after(2 * minute);
    const titles = async () =>
      (await looks.alerts(`rule_id=${rule.id}&state=firing`)).map(({ subject }: Json) => subject.id).sort();
    expect(await titles()).toEqual([blocked.id, paused.id, deleted.id, endless.id].sort());
    expect(
      (await looks.alerts(`rule_id=${rule.id}`)).find(({ subject }) => subject.id === blocked.id),
    ).toMatchObject({
      title: 'Nightly cannot fire',
      detail: 'The agent does not exist.',
    });
    const pathOf = ({ id, agent_id }: Json) => `/agents/${agent_id}/schedules/${id}`;
    for (const { id } of [blocked, endless])
      await at().sql`update schedules set updated_at = ${looks.now()}, next_run_at = ${looks.now(day)},
        last_outcome = null where id = ${id}`;
    await ok(at().app.post(`${pathOf(paused)}/pause`, {}));
    await ok(at().api.delete(pathOf(deleted)), 204);
    await looks.after(10);
    expect([await titles(), await total(rule)]).toEqual([[], 4]);
  });

  test('a disabled narrower rule mutes, the oldest of the same width counts, and a deleted rule resolves', async () => {
    const wide = await newRule('missed', { params: { grace_seconds: 60 } });
    const schedule = await newDue(minute);
    await looks.after(3 * minute);
    expect(await firing(wide)).not.toBeNull();
    const quiet = await newRule('missed', { enabled: false, schedule_id: schedule.id });
    await looks.after(10);
    expect([await firing(wide), await firing(quiet)]).toEqual([null, null]);
    await ok(at().api.delete(`/alert-rules/${quiet.id}`), 204);
    const ofAgent = await oldRule('missed', { agent_id: schedule.agent_id });
    const younger = await newRule('missed', { agent_id: schedule.agent_id });
    await looks.after(minute);
    expect([await firing(wide), await firing(younger)]).toEqual([null, null]);
    expect(await firing(ofAgent)).not.toBeNull();
    await ok(at().api.delete(`/alert-rules/${ofAgent.id}`), 204);
    expect(await firing(ofAgent)).toBeNull();
    await ok(at().api.patch(`/alert-rules/${younger.id}`, { enabled: false }));
    await looks.after(10);
    expect(await looks.alerts('state=firing')).toEqual([]);
    expect(await total(ofAgent)).toBe(1);
  });

  test('more than 100 schedules at once are one alert with 20 names, which counts them until none is left', async () => {
    const rule = await newRule('missed');
    const agent = await newAgent(at());
    await at()
      .sql`insert into schedules (id, agent_id, cron_expression, timezone, zone_rules, work_item_name, next_run_at)
      select new_id(), ${agent.id}, '0 0 1 1 *', 'UTC', '', 'Report ' || n, ${looks.now(minute)}
      from generate_series(1, 101) n`;
    await looks.after(3 * minute);
    const alert = await firing(rule);
    expect(alert).toMatchObject({ subject: null, count: 101, title: '101 schedules did not fire in time' });
    expect(alert.detail.match(/Report/g)).toHaveLength(20);
    expect(alert.detail).toMatch(/, and 81 more\.$/);
    await at().sql`delete from schedules where agent_id = ${agent.id} and work_item_name > 'Report 3'`;
    await looks.after(10);
    const fewer = await firing(rule);
    expect([fewer.id, fewer.count < 101 && fewer.count > 0]).toEqual([alert.id, true]);
    await ok(at().api.delete(`/agents/${agent.id}`), 204);
    await looks.after(10);
    expect([await firing(rule), await total(rule)]).toEqual([null, 1]);
  });

  test('one that fires late is an alert until one is in time; what was before the rule does not count', async () => {
    const schedule = await newDue(day);
    await handled(schedule, { late: 40 });
    looks.seconds += 1;
    const rule = await newRule('late');
    await at().sql`update alert_rules set created_at = ${looks.now()} where id = ${rule.id}`;
    looks.seconds += 1;
    await handled(schedule, { late: 29 });
    await looks.after(10);
    expect(await total(rule)).toBe(0);
    await handled(schedule, { late: 31 });
    await looks.after(10);
    expect(await firing(rule)).toMatchObject({
      kind: 'late',
      severity: 'warning',
      title: 'Nightly fired 31 s late',
      subject: { id: schedule.id },
    });
    await handled(schedule, { late: 3 });
    await looks.after(10);
    expect([await firing(rule), await total(rule)]).toEqual([null, 1]);
  });

  test('Work Items that fail are an alert of their agent, or of their schedule for a rule of its own', async () => {
    const agent = await newAgent(at(), { name: 'Clerk' });
    const schedule = await newDue(day, agent.id);
    const rules = [
      await newRule('failing', { params: { failures: 2, of: 3 } }),
      await newRule('failing', {
        schedule_id: schedule.id,
        params: { percent: 50, minutes: 10, at_least: 3 },
      }),
    ] as const;
    const finish = async (statuses: string[], scheduleId: string | null = null) => {
      for (const status of statuses) {
        looks.seconds += 1;
        await at()
          .sql`insert into work_items (id, conversation_id, agent_id, schedule_id, message, payload, status,
            created_by, created_at, finished_at)
          values (new_id(), new_id(), ${agent.id}, ${scheduleId}, '', '{}', ${status}, 'x', ${looks.now()}, ${looks.now()})`;
      }
      await looks.after(10);
    };
    await finish(['ERROR', 'COMPLETED', 'COMPLETED', 'ERROR']);
    expect(await firing(rules[0])).toBeNull();
    await finish(['ERROR']);
    expect(await firing(rules[0])).toMatchObject({
      subject: { type: 'agent', id: agent.id, name: 'Clerk' },
      agent_id: agent.id,
      detail: '2 of the last 3 Work Items ended in ERROR.',
    });
    await finish(['COMPLETED', 'COMPLETED']);
    expect([await firing(rules[0]), await total(rules[0])]).toEqual([null, 1]);
    await finish(['COMPLETED', 'ERROR'], schedule.id);
    expect(await firing(rules[1])).toBeNull();
    await finish(['ERROR'], schedule.id);
    expect(await firing(rules[1])).toMatchObject({
      subject: { type: 'schedule', id: schedule.id },
      agent_id: agent.id,
      detail: '2 of the last 3 Work Items, within 10 min, ended in ERROR.',
    });
    await looks.after(10 * minute);
    expect([await firing(rules[1]), await total(rules[1])]).toEqual([null, 1]);
  });

  test('a Work Item that waits for a person for long is an alert until it goes on', async () => {
    const agent = await newAgent(at());
    const rule = await newRule('waiting', { agent_id: agent.id, params: { minutes: 30 } });
    const mock = { steps: [{ tools: [{ tool: 'request_review', args: { reason: 'Is it right?' } }] }] };
    const item = await ok(
      at().api.post('/work-items', { agent_id: agent.id, work_item_name: 'Refund', payload: { mock } }),
    );
    await expect
      .poll(async () => (await ok(at().api.get(`/work-items/${item.id}`))).status)
      .toBe('NEEDS_REVIEW');
    await at().sql`update reviews set opened_at = ${looks.now()} where work_item_id = ${item.id}`;
    await at().sql`update alert_rules set created_at = ${looks.now()} where id = ${rule.id}`;
    await looks.after(29 * minute);
    expect(await firing(rule)).toBeNull();
    await looks.after(2 * minute);
    expect(await firing(rule)).toMatchObject({
      subject: { type: 'work_item', id: item.id, name: 'Refund' },
      title: 'Refund waits for a person',
      detail: 'It has waited for 31 min: “Is it right?”',
    });
    await at().sql`update reviews set opened_at = ${looks.now()} where work_item_id = ${item.id}`;
    await looks.after(10);
    expect(await firing(rule)).toBeNull();
    await at().sql`update reviews set escalated_at = ${looks.now()} where work_item_id = ${item.id}`;
    await looks.after(10);
    expect((await firing(rule)).detail).toMatch(
      /^No one decided in time\. It has waited for 2\d s: “Is it right\?”$/,
    );
    await ok(at().api.post(`/work-items/${item.id}/cancel`));
    await looks.after(10);
    expect([await firing(rule), await total(rule)]).toEqual([null, 2]);
  });

  test('an integration that is paused, or behind, is an alert while it is enabled', async () => {
    const rule = await oldRule('integration');
    const settings = { provider: 'otlp_custom_headers', url: 'http://127.0.0.1:9/v1/traces' };
    const { id } = await ok(
      at().api.post('/observability/integrations', { version: '1', description: 'Traces', settings }),
      201,
    );
    const [{ number }] = await at().sql`select number from observability_integrations where id = ${id}`;
    const account = (state: string, oldest: number | null) =>
      at()
        .sql`insert into telemetry_accounts (replica_id, number, delivered, rejected, dead_lettered, expired,
          discarded, backlog_bytes, state, queued, oldest_at, updated_at)
        values (${id}, ${number}, 0, 0, 0, 0, 0, 0, ${state}, ${oldest === null ? 0 : 3}, ${oldest === null ? null : looks.now(-oldest)}, ${looks.now(10)})
        on conflict (replica_id, number) do update set state = excluded.state, queued = excluded.queued,
          oldest_at = excluded.oldest_at, updated_at = excluded.updated_at`;
    await account('retrying', 9 * minute);
    await looks.after(10);
    expect(await firing(rule)).toBeNull();
    await account('retrying', 11 * minute);
    await looks.after(10);
    expect(await firing(rule)).toMatchObject({
      subject: { type: 'integration', id, name: 'Traces' },
      title: 'Traces is 11 min behind',
      agent_id: null,
    });
    await account('delivering', null);
    await looks.after(10);
    expect(await firing(rule)).toBeNull();
    await account('paused', null);
    await looks.after(10);
    expect((await firing(rule)).title).toBe('Traces is paused');
    await ok(at().api.patch(`/observability/integrations/${id}`, { is_enabled: false }));
    await looks.after(10);
    expect([await firing(rule), await total(rule)]).toEqual([null, 2]);
  });

  test('a tool server that fails for long is an alert while an agent uses it', async () => {
    const rule = await oldRule('tool_server');
    const server = await ok(
      at().api.post('/tool-servers', { name: 'Ledger', url: 'http://127.0.0.1:1/mcp' }),
    );
    await at().sql`update tool_servers set state = 'failing', last_error = 'no connection',
      last_success_at = ${looks.now(-6 * minute)} where id = ${server.id}`;
    await looks.after(10);
    expect(await firing(rule)).toBeNull();
    await newAgent(at(), { tool_server_ids: [server.id] });
    await looks.after(10);
    expect(await firing(rule)).toMatchObject({
      subject: { type: 'tool_server', id: server.id, name: 'Ledger' },
      detail: 'No connection. It last responded 6 min ago.',
    });
    await at().sql`update tool_servers set state = 'ok', last_success_at = now() where id = ${server.id}`;
    await looks.after(10);
    expect([await firing(rule), await total(rule)]).toEqual([null, 1]);
  });

  test('a budget of which much is spent is an alert in that period, and one of persons for administrators only', async () => {
    const rule = await newRule('budget', { params: { percent: 50 } });
    const budget = (kind: string) =>
      ok(
        at().api.post('/budgets', {
          name: `Budget of ${kind}`,
          scope: { kind },
          unit: 'tokens',
          limit: 1_000,
          period: 'day',
        }),
      );
    const [own, persons] = [await budget('workspace'), await budget('person')];
    const spend = (id: string, tokens: number) =>
      at().sql`insert into budget_periods (id, budget_id, subject_id, starts_at, ends_at, closed)
        values (new_id(), ${id}, '', ${looks.now(-hour)}, ${looks.now(hour)}, ${tokens})
        on conflict (budget_id, subject_id, starts_at) do update set closed = excluded.closed`;
    await spend(own.id, 500);
    await looks.after(10);
    expect(await firing(rule)).toBeNull();
    await at().sql`update budget_periods set closed = 501 where budget_id = ${own.id}`;
    await looks.after(10);
    expect(await firing(rule)).toMatchObject({
      subject: { type: 'budget', id: own.id },
      title: 'More than 50 % of the budget Budget of workspace is spent',
      detail: '501 tokens of 1,000 tokens are spent in the present period.',
    });
    await spend(persons.id, 900);
    await looks.after(10);
    const seen = async (role: string) => {
      const { value } = await newKey(at(), role);
      return (await ok(at().as(value).get('/alerts?state=firing'))).data.map(
        ({ subject }: Json) => subject.id,
      );
    };
    expect([await seen('builder'), (await seen('admin')).sort()]).toEqual([
      [own.id],
      [own.id, persons.id].sort(),
    ]);
    await looks.after(2 * hour);
    expect([await firing(rule), await total(rule)]).toEqual([null, 2]);
    for (const { id } of [own, persons]) await ok(at().api.delete(`/budgets/${id}`), 204);
  });

  test('a trigger that is blocked, or far behind, for long is an alert while it is enabled', async () => {
    const rule = await oldRule('trigger', { params: { minutes: 5, unread: 2_000 } });
    const trigger = await newHook(at(), { name: 'Orders' });
    const block = (reason: string | null) =>
      at().sql`update triggers set blocked_reason = ${reason} where id = ${trigger.id}`;
    await block('The broker refused the credentials.');
    await looks.after(10);
    await looks.after(4 * minute);
    expect(await firing(rule)).toBeNull();
    await block(null);
    await looks.after(10);
    await block('The broker refused the credentials.');
    await looks.after(2 * minute);
    expect(await firing(rule)).toBeNull();
    await looks.after(5 * minute);
    expect(await firing(rule)).toMatchObject({
      subject: { type: 'trigger', id: trigger.id, name: 'Orders' },
      agent_id: trigger.agent_id,
      title: 'The trigger Orders receives nothing',
      detail: 'The broker refused the credentials. It has been so for 5 min.',
    });
    await block(null);
    await looks.after(10);
    expect(await firing(rule)).toBeNull();
    await at().sql`insert into trigger_readings (trigger_id, state, lag, behind_since)
      values (${trigger.id}, 'ok', 2001, ${looks.now(-hour)})`;
    // It may have been more than 2,000 only since now; by a rule of 1,000 it is known.
    await looks.after(10);
    expect(await firing(rule)).toBeNull();
    await ok(at().api.patch(`/alert-rules/${rule.id}`, { params: { unread: null } }));
    await looks.after(10);
    expect((await firing(rule)).title).toBe('The trigger Orders is 2,001 messages behind');
    await ok(at().api.post(`/agents/${trigger.agent_id}/triggers/${trigger.id}/pause`, {}));
    await looks.after(10);
    expect([await firing(rule), await total(rule)]).toEqual([null, 2]);
    await at().sql`delete from trigger_readings`;
  });

  test('no replica that schedules is an alert about no one thing, until one does', async () => {
    const rule = await newRule('no_scheduler');
    await at().sql`update alert_rules set created_at = ${looks.now()} where id = ${rule.id}`;
    const scheduling = (before: number) =>
      at().sql`update replicas set scheduling_at = ${looks.now(-before)} where scheduling_at is not null`;
    await looks.after(40);
    expect(await firing(rule)).toMatchObject({
      kind: 'no_scheduler',
      severity: 'error',
      subject: null,
      agent_id: null,
      count: 1,
      title: 'No replica is scheduling',
    });
    await scheduling(-9);
    await looks.after(10);
    expect([await firing(rule), await total(rule)]).toEqual([null, 1]);
  });

  test('an alert has the messages that tell of it, for builders', async () => {
    const channel = await newChannel(at(), 'webhook', { url: 'http://127.0.0.1:2/', enabled: false });
    const steps = [{ channel_id: channel.id, to: 'channel' }];
    const route = await ok(at().api.post('/routes', { name: 'All', for: 'alerts', steps }));
    const rule = await newRule('missed');
    await newDue(minute);
    looks.announcer = announcer;
    await looks.after(5 * minute);
    looks.announcer = null;
    const { id, messages } = await firing(rule);
    expect(messages).toEqual([
      {
        channel_id: channel.id,
        channel_name: channel.name,
        to: 'channel',
        state: 'pending',
        attempts: 0,
        last_error: null,
        next_attempt_at: expect.stringMatching(time),
        delivered_at: null,
      },
    ]);
    const { value: builder } = await newKey(at(), 'builder');
    const { value: member } = await newKey(at(), 'member');
    const seen = async (key: string) => (await ok(at().as(key).get(`/alerts/${id}`))).messages;
    expect([await seen(builder), await seen(member)]).toEqual([messages, []]);
    expect((await ok(at().api.post(`/alerts/${id}/acknowledge`))).messages).toHaveLength(1);
    await ok(at().api.delete(`/routes/${route.id}`), 204);
    await ok(at().api.delete(`/channels/${channel.id}`), 204);
  });

  test('an alert is acknowledged once, with a note, and counted until then', async () => {
    const rule = await newRule('missed');
    await newDue(minute);
    await looks.after(5 * minute);
    const alert = await firing(rule);
    const lines = async () =>
      (await ok(at().app.get(`/overview?hours=${20 + (looks.seconds % 100)}`))).attention.filter(
        (one: Json) => one.kind === 'alerts_firing',
      );
    const metrics = async () => (await fetch(`${at().test.origin}/metrics`)).text();
    expect(await ok(at().app.get('/me'))).toMatchObject({ firing_alerts: 1 });
    expect(await lines()).toMatchObject([
      { severity: 'error', count: 1, title: '1 alert fires, and no one has acknowledged it' },
    ]);
    expect(await metrics()).toContain('agent_platform_alerts_firing{kind="missed"} 1');
    expect(await metrics()).toMatch(/agent_platform_alert_pass_age_seconds \d/);
    const acknowledge = (body?: object, key?: string) =>
      (key ? at().as(key) : at().api).post(`/alerts/${alert.id}/acknowledge`, body);
    const { value: member } = await newKey(at(), 'member');
    expectError(await acknowledge({}, member), 403);
    expect((await at().as(member).get(`/alerts/${alert.id}`)).status).toBe(200);
    expectError(await acknowledge({ note: 'x'.repeat(501) }), 422);
    const { value, name } = await newKey(at(), 'builder');
    const acknowledged = await ok(acknowledge({ note: 'On it' }, value));
    expect(acknowledged).toMatchObject({
      state: 'firing',
      acknowledged_at: expect.stringMatching(time),
      acknowledged_by: { kind: 'service_account', name },
      note: 'On it',
    });
    expect(await ok(acknowledge({ note: 'Me too' }))).toEqual(acknowledged);
    expect(await ok(acknowledge())).toEqual(acknowledged);
    const found = async (query: string) => (await looks.alerts(query)).length;
    expect([await found('acknowledged=true'), await found('acknowledged=false')]).toEqual([1, 0]);
    expect([await found('kind=missed'), await found('kind=late')]).toEqual([1, 0]);
    expect([await found(`agent_id=${alert.agent_id}`), await found(`agent_id=${newId()}`)]).toEqual([1, 0]);
    // As in every list, what cannot be an id is one that nothing has.
    expect([await found('agent_id=x'), await found('rule_id=x')]).toEqual([0, 0]);
    expect((await ok(at().app.get('/me'))).firing_alerts).toBe(0);
    looks.seconds += 1;
    expect(await lines()).toEqual([]);
    const [entry] = (await ok(at().api.get('/audits?action=alert.acknowledge'))).data;
    expect(entry).toMatchObject({ target_id: alert.id, details: { kind: 'missed', note: 'On it' } });
    await ok(at().api.delete(`/alert-rules/${rule.id}`), 204);
    expectError(await acknowledge({}), 412, /resolved/);
    const { value: limited } = await newKey(at(), 'builder', { scopes: ['agents:read'] });
    expect((await ok(at().as(limited, '/app/api').get('/me'))).firing_alerts).toBeNull();
  });
});
