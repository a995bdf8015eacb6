import { expect, test } from 'vitest';
import {
  expectError,
  faults,
  newAgent,
  newKey,
  newSchedule,
  ok,
  onPostgres,
  setSettings,
  time,
  unknownId,
  uuid,
} from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

const defaults = [
  ['missed', 'error', { grace_seconds: null }],
  ['late', 'warning', { seconds: 30 }],
  ['failing', 'error', { failures: 3, of: 5 }],
  ['waiting', 'warning', { minutes: 60 }],
  ['integration', 'error', { minutes: 10 }],
  ['tool_server', 'warning', { minutes: 5 }],
  ['budget', 'warning', { percent: 80 }],
  ['trigger', 'error', { minutes: 5, unread: 1_000 }],
  ['no_scheduler', 'error', { seconds: 30 }],
] as const;

onPostgres((at) => {
  const create = (fields: object) => at().api.post('/alert-rules', { name: 'r', ...fields });
  const change = (id: string, fields: object) => at().api.patch(`/alert-rules/${id}`, fields);

  test('for the pages of the application rules have the names of what they are about', async () => {
    const agent = await newAgent(at(), { name: 'Clerk' });
    const schedule = await newSchedule(at(), agent.id, { work_item_name: 'Nightly' });
    const unnamed = await newSchedule(at(), agent.id);
    const rules = [
      await ok(create({ kind: 'missed', schedule_id: schedule.id })),
      await ok(create({ kind: 'missed', schedule_id: unnamed.id })),
      await ok(create({ kind: 'missed', agent_id: agent.id })),
      await ok(create({ kind: 'budget' })),
    ];
    const expected = [
      { agent: null, schedule: { id: schedule.id, name: 'Nightly', agent_id: agent.id } },
      { agent: null, schedule: { id: unnamed.id, name: 'Clerk', agent_id: agent.id } },
      { agent: { id: agent.id, name: 'Clerk' }, schedule: null },
      { agent: null, schedule: null },
    ].map((names, i) => ({ ...rules[i], ...names }));
    const { data } = await ok(at().app.get('/alert-rules?limit=4'));
    expect(data.toReversed()).toEqual(expected);
    for (const rule of expected) expect(await ok(at().app.get(`/alert-rules/${rule.id}`))).toEqual(rule);
    for (const { id } of rules) await ok(at().api.delete(`/alert-rules/${id}`), 204);
  });

  test('at first there is an enabled rule of the workspace of each kind', async () => {
    const { data } = await ok(at().api.get('/alert-rules'));
    expect(data).toHaveLength(9);
    for (const [kind, severity, params] of defaults) {
      const rule = data.find((one: Json) => one.kind === kind);
      expect(rule).toEqual({
        id: expect.stringMatching(uuid),
        name: expect.any(String),
        kind,
        enabled: true,
        severity,
        params,
        agent_id: null,
        schedule_id: null,
        created_at: expect.stringMatching(time),
        updated_at: rule.created_at,
      });
    }
  });

  test.each(defaults)(
    'a rule of the kind %s has the defaults of its kind',
    async (kind, severity, params) => {
      const rule = await ok(create({ kind }));
      expect(rule).toMatchObject({
        kind,
        enabled: true,
        severity,
        params,
        agent_id: null,
        schedule_id: null,
      });
      expect(await ok(create({ kind, severity: null, params: null }))).toMatchObject({ severity, params });
      const { id: _, created_at: __, updated_at: ___, ...same } = rule;
      expect(await ok(change(rule.id, same))).toMatchObject(same);
      await ok(at().api.delete(`/alert-rules/${rule.id}`), 204);
      expectError(await at().api.get(`/alert-rules/${rule.id}`), 404);
    },
  );

  test('what a rule cannot be for, or what it cannot count by, is refused', async () => {
    const agent = await newAgent(at());
    const schedule = await newSchedule(at(), agent.id);
    const refused = async (fields: object, paths: string[]) => {
      const response = await create(fields);
      expectError(response, 422);
      expect(faults(response), JSON.stringify(fields)).toEqual(paths);
    };
    for (const kind of ['missed', 'late', 'failing']) {
      await ok(create({ kind, agent_id: agent.id }));
      await ok(create({ kind, schedule_id: schedule.id }));
      await refused({ kind, agent_id: agent.id, schedule_id: schedule.id }, ['schedule_id']);
      await refused({ kind, schedule_id: unknownId }, ['schedule_id']);
      expectError(await create({ kind, agent_id: unknownId }), 404, /agent does not exist/);
    }
    await ok(create({ kind: 'waiting', agent_id: agent.id }));
    await refused({ kind: 'waiting', schedule_id: schedule.id }, ['schedule_id']);
    for (const kind of ['integration', 'tool_server', 'budget', 'trigger', 'no_scheduler'])
      await refused({ kind, agent_id: agent.id }, ['agent_id']);
    expectError(await create({}), 400, /kind/);
    expectError(await at().api.post('/alert-rules', { kind: 'missed' }), 400, /name/);
    await refused({ kind: 'unknown' }, ['kind']);
    const failing = (params: object, paths: string[]) => refused({ kind: 'failing', params }, paths);
    await failing({ percent: 50, failures: 2 }, ['params.failures']);
    await failing({ percent: 50, of: 2 }, ['params.of']);
    await failing({ failures: 6 }, ['params.failures']);
    await failing({ minutes: 5 }, ['params.minutes']);
    await failing({ percent: 101 }, ['params.percent']);
    await refused({ kind: 'missed', params: { grace_seconds: 9 } }, ['params.grace_seconds']);
    await refused({ kind: 'trigger', params: { unread: 0, minutes: 10_081 } }, [
      'params.minutes',
      'params.unread',
    ]);
  });

  test('a change merges parameters, and never changes the kind', async () => {
    const trigger = await ok(create({ kind: 'trigger', params: { minutes: 7 } }));
    const paramsAfter = async (id: string, params: object) => (await ok(change(id, { params }))).params;
    expect(await paramsAfter(trigger.id, { unread: 5 })).toEqual({ minutes: 7, unread: 5 });
    expect(await paramsAfter(trigger.id, { minutes: null })).toEqual({ minutes: 5, unread: 5 });
    const failing = await ok(create({ kind: 'failing', params: { failures: 2 } }));
    expect(failing.params).toEqual({ failures: 2, of: 5 });
    const share = { percent: 20, minutes: 60, at_least: 10 };
    expect(await paramsAfter(failing.id, { percent: 20 })).toEqual(share);
    expect(await paramsAfter(failing.id, { at_least: 3 })).toEqual({ ...share, at_least: 3 });
    expect(await paramsAfter(failing.id, { failures: 4 })).toEqual({ failures: 4, of: 5 });
    const wrong = await change(failing.id, { params: { of: 3 } });
    expect([wrong.status, faults(wrong)]).toEqual([422, ['params.failures']]);
    const kind = await change(failing.id, { kind: 'missed' });
    expect([kind.status, faults(kind)]).toEqual([422, ['kind']]);
    const foreign = await change(trigger.id, { params: { seconds: 30 } });
    expect([foreign.status, faults(foreign)]).toEqual([422, ['params.seconds']]);
    const agent = await newAgent(at());
    expect((await ok(change(failing.id, { agent_id: agent.id }))).agent_id).toBe(agent.id);
    await ok(at().api.delete(`/agents/${agent.id}`), 204);
    expectError(await at().api.get(`/alert-rules/${failing.id}`), 404);
  });

  test('builders read rules, and administrators write them', async () => {
    const [member, builder] = [await newKey(at(), 'member'), await newKey(at(), 'builder')];
    const { data } = await ok(at().as(builder.value).get('/alert-rules?limit=1'));
    expectError(await at().as(member.value).get('/alert-rules'), 403);
    expectError(await at().as(builder.value).patch(`/alert-rules/${data[0].id}`, { enabled: false }), 403);
  });

  test('one more than there may be is refused', async () => {
    const [{ n }] = await at().sql`select count(*)::integer as n from alert_rules`;
    await setSettings(at(), { MAX_ALERT_RULES: n + 1 });
    await ok(create({ kind: 'late' }));
    const response = await create({ kind: 'late' });
    expect(response.status).toBe(422);
    expect(response.body.error).toMatchObject({ setting: 'MAX_ALERT_RULES', code: 'unprocessable_entity' });
    await setSettings(at(), { MAX_ALERT_RULES: 500 });
  });
});
