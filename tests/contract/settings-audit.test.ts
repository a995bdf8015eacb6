import { expect, test } from 'vitest';
import { until } from '../harness/wait.ts';
import {
  expectError,
  newAgent,
  newKey,
  newSchedule,
  ok,
  onPostgres,
  setSettings,
  time,
  uuid,
} from './fixture.ts';

const defaults = { MAX_SCHEDULES_PER_AGENT: 20, MAX_WORK_ITEM_PAYLOAD_SIZE_IN_KB: 100 };

onPostgres((at) => {
  const audits = async (filter: string) => (await ok(at().api.get(`/audits?limit=200&${filter}`))).data;

  test('the settings are one flat record with the defaults of the product description', async () => {
    const settings = await ok(at().api.get('/advanced-settings'));
    expect(settings).toMatchObject({
      ...defaults,
      SCHEDULE_MISFIRE_GRACE_SECONDS: 60,
      WORK_ITEM_RETENTION_DAYS: 90,
      RATE_LIMIT_REQUESTS_PER_SECOND: 1_000,
      RATE_LIMIT_BURST: 2_000,
      TELEMETRY_RETENTION_HOURS: 72,
      TELEMETRY_RETENTION_MB: 10_240,
      CAPTURE_MESSAGE_CONTENT: false,
    });
    const schema = await ok(at().api.get('/advanced-settings/schema'));
    expect(schema.map((one: { name: string }) => one.name).sort()).toEqual(Object.keys(settings).sort());
    for (const one of schema)
      expect(one).toMatchObject({ default: settings[one.name], description: expect.stringMatching(/\.$/) });
  });

  test('a change returns the whole record, is stored, and leaves the other settings alone', async () => {
    const before = await ok(at().api.get('/advanced-settings'));
    const after = await setSettings(at(), { MAX_SCHEDULES_PER_AGENT: 21 });
    expect(after).toEqual({ ...before, MAX_SCHEDULES_PER_AGENT: 21 });
    expect(await ok(at().api.get('/advanced-settings'))).toEqual(after);
    expect(await setSettings(at(), {})).toEqual(after);
    expect(await setSettings(at(), before)).toEqual(before);
  });

  test.each([
    ['an unknown name', { NOTHING: 1 }, 'NOTHING'],
    ['a name from the prototype', { constructor: 1 }, 'constructor'],
    ['a text', { MAX_SCHEDULES_PER_AGENT: '20' }, 'MAX_SCHEDULES_PER_AGENT'],
    ['null', { MAX_SCHEDULES_PER_AGENT: null }, 'MAX_SCHEDULES_PER_AGENT'],
    ['a fraction', { MAX_SCHEDULES_PER_AGENT: 1.5 }, 'MAX_SCHEDULES_PER_AGENT'],
    ['a negative number', { MAX_SCHEDULES_PER_AGENT: -1 }, 'MAX_SCHEDULES_PER_AGENT'],
    ['a number for a boolean', { CAPTURE_MESSAGE_CONTENT: 1 }, 'CAPTURE_MESSAGE_CONTENT'],
    ['an object', { RATE_LIMIT_BURST: {} }, 'RATE_LIMIT_BURST'],
    ['one wrong setting of two', { MAX_SCHEDULES_PER_AGENT: 7, RATE_LIMIT_BURST: -1 }, 'RATE_LIMIT_BURST'],
  ])('%s is 422 that names the setting, and nothing changes', async (_what, body, setting) => {
    const before = await ok(at().api.get('/advanced-settings'));
    expectError(await at().api.patch('/advanced-settings', body), 422, new RegExp(setting), { setting });
    expect(await ok(at().api.get('/advanced-settings'))).toEqual(before);
  });

  test('an array, null and an empty body are refused', async () => {
    expectError(await at().api.patch('/advanced-settings', []), 422);
    expectError(await at().api.patch('/advanced-settings', null), 422);
    expectError(await at().api.raw('PATCH', '/advanced-settings', undefined), 400);
  });

  test('a changed limit takes effect with the next request', async () => {
    const { id } = await newAgent(at());
    const path = `/agents/${id}/schedules`;
    for (const kilobytes of [1, 2, 1]) {
      await setSettings(at(), { MAX_WORK_ITEM_PAYLOAD_SIZE_IN_KB: kilobytes });
      const response = await at().api.post(path, {
        cron_expression: '0 0 * * *',
        payload: { a: 'x'.repeat(1_500) },
      });
      if (kilobytes === 2) expect(response.status).toBe(200);
      else expectError(response, 400, /payload.*1 KB/, { setting: 'MAX_WORK_ITEM_PAYLOAD_SIZE_IN_KB' });
    }
    for (const most of [1, 2]) {
      await setSettings(at(), { MAX_SCHEDULES_PER_AGENT: most });
      const response = await at().api.post(path, { cron_expression: '0 0 * * *' });
      if (most === 2) expect(response.status).toBe(200);
      else expectError(response, 400, /1 schedule/, { setting: 'MAX_SCHEDULES_PER_AGENT' });
    }
    const { value } = await newKey(at(), 'member');
    for (let n = 0; n < 20; n++) {
      await setSettings(at(), { RATE_LIMIT_BURST: 100 + n });
      const policy = (await at().as(value).get('/agents')).headers.get('ratelimit-policy');
      expect(policy).toMatch(`q=${100 + n};`);
    }
    await setSettings(at(), { ...defaults, RATE_LIMIT_BURST: 2_000 });
  });

  test('each change is audited with who, what, before and after; setting the same value is not a change', async () => {
    await setSettings(at(), { ...defaults, RATE_LIMIT_BURST: 2_000 });
    const headers = { 'x-request-id': 'settings-1' };
    await ok(
      at().api.patch(
        '/advanced-settings',
        { MAX_SCHEDULES_PER_AGENT: 30, RATE_LIMIT_BURST: 2_000 },
        { headers },
      ),
    );
    const rows = (await audits('action=advanced_setting.update')).filter(
      (row: { request_id: string }) => row.request_id === 'settings-1',
    );
    expect(rows).toEqual([
      {
        id: expect.stringMatching(uuid),
        at: expect.stringMatching(time),
        principal: { kind: 'service_account', id: 'bootstrap', name: 'bootstrap administrator' },
        action: 'advanced_setting.update',
        target_type: 'advanced_setting',
        target_id: 'MAX_SCHEDULES_PER_AGENT',
        outcome: 'done',
        details: { before: 20, after: 30 },
        context: { ip: '127.0.0.1', user_agent: 'node', via: 'key', key_id: 'bootstrap', session_id: null },
        request_id: 'settings-1',
        position: rows[0].position,
        hash: rows[0].hash,
      },
    ]);
    await setSettings(at(), defaults);
  });

  test('every change of a schedule is audited, and no read', async () => {
    const agent = await newAgent(at());
    const schedule = await newSchedule(at(), agent.id);
    const path = `/agents/${agent.id}/schedules/${schedule.id}`;
    await ok(at().api.put(path, { cron_expression: '1 1 * * *' }));
    await ok(at().app.post(`${path}/pause`, { reason: 'holiday' }));
    await ok(at().app.post(`${path}/pause`));
    await ok(at().app.post(`${path}/resume`));
    await ok(at().app.post(`${path}/run`));
    await ok(at().api.get(path));
    await ok(at().api.get(`/agents/${agent.id}`));
    expectError(await at().api.put(path, {}), 400);
    await ok(at().api.delete(path), 204);
    const rows = await audits(`target_type=schedule&target_id=${schedule.id}`);
    expect(rows.map((row: { action: string }) => row.action)).toEqual(
      ['delete', 'run', 'resume', 'pause', 'update', 'create'].map((verb) => `schedule.${verb}`),
    );
    expect(rows[3].details).toEqual({ reason: 'holiday' });
    expect((await audits(`target_id=${agent.id}`)).map((row: { action: string }) => row.action)).toEqual([
      'agent.create',
    ]);
  });

  test('an offset counts from the newest, and goes with no next', async () => {
    for (let n = 0; n < 7; n++) await newAgent(at());
    const ids = (rows: { id: string }[]) => rows.map(({ id }) => id);
    const some = await audits('action=agent.create&offset=3');
    expect(ids(some)).toEqual(ids(await audits('action=agent.create')).slice(3));
    const { next } = await ok(at().api.get('/audits?limit=1'));
    expectError(await at().api.get(`/audits?next=${next}&offset=1`), 422, /offset/);
    expect(await audits('offset=1000000')).toEqual([]);
  });

  test('the chain covers a row within a second, and verification names the first row that was changed afterwards', async () => {
    await newAgent(at());
    const done = await until(async () => {
      const rows = await audits('');
      return rows[0].position !== null && rows;
    }, 3_000);
    const good = await ok(at().api.get('/audits/verify'));
    expect(good).toMatchObject({ ok: true, broken_at: null });
    expect(good.checked).toBeGreaterThanOrEqual(done.length);
    expect(good.last_hash).toMatch(/^[0-9a-f]{64}$/);
    await expect(at().sql`update audits set action = 'x' where position = 2`).rejects.toThrow('append-only');
    await expect(at().sql`delete from audits where position = 2`).rejects.toThrow('append-only');
    await at().sql`alter table audits disable trigger audits_append_only`;
    const [{ principal_name }] = await at().sql`select principal_name from audits where position = 2`;
    await at().sql`update audits set principal_name = 'someone else' where position = 2`;
    expect(await ok(at().api.get('/audits/verify'))).toMatchObject({ ok: false, broken_at: 2, checked: 1 });
    await at().sql`update audits set principal_name = ${principal_name} where position = 2`;
    await at().sql`alter table audits enable trigger audits_append_only`;
    expect(await ok(at().api.get('/audits/verify'))).toMatchObject({ ok: true });
  });
});
