import { describe, expect, test } from 'vitest';
import { sql } from '../../src/database/index.ts';
import { scopes } from '../../src/lib/principal.ts';
import { until } from '../harness/wait.ts';
import { expectError, faults, newKey, ok, onPostgres, setSettings, withPlatform } from './fixture.ts';
import { newPerson } from './people-fixture.ts';

const hour = 3_600_000;
const day = 24 * hour;
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();

describe('the limits of an API key', () => {
  onPostgres((at) => {
    const create = (body: object, by = at().api) => by.post('/api-keys', { name: 'x', ...body });

    test('a key with the scope `telemetry` sends traces, and does nothing else', async () => {
      const pod = await newKey(at(), 'member', { scopes: ['telemetry'] });
      expect(pod.scopes).toEqual(['telemetry']);
      const traces = at().test.as(pod.value, '');
      for (const path of ['/api/v2/telemetry/v1/traces', '/api/v1/telemetry/v1/traces', '/v1/traces']) {
        expect((await traces.post(path, { resourceSpans: [] })).status).toBe(200);
      }
      const by = at().as(pod.value);
      for (const [response, scope] of [
        [await by.get('/agents'), 'agents:read'],
        [await by.get('/work-items?agent_id=x'), 'work_items:read'],
        [await by.get('/api-keys/self'), 'access:read'],
        [await by.post('/api-keys/self/rotate'), 'access'],
        [await create({ role: 'member', scopes: ['telemetry'] }, by), 'access'],
      ] as const) {
        expectError(response, 403, new RegExp(`requires the scope ${scope},`));
      }
      const other = await newKey(at(), 'admin', { scopes: ['observability'] });
      const refused = await at().test.as(other.value, '').post('/v1/traces', { resourceSpans: [] });
      expect(refused.status).toBe(403);
      expect(refused.text).toContain('requires the scope telemetry');
    });

    test('a key with the scope `audit:read` reads the audit log, and nothing else', async () => {
      const siem = await newKey(at(), 'admin', { scopes: ['audit:read'] });
      const by = at().as(siem.value);
      await ok(by.get('/audits?limit=1'));
      await ok(by.get('/audits/verify'));
      expectError(await by.get('/advanced-settings'), 403, /scope settings:read/);
      expectError(await by.get('/api-keys'), 403, /scope access:read/);
      expectError(await by.post('/agents', {}), 403, /scope agents,/);
      // What is refused for a scope is audited like what is refused for a role.
      const refusals = await until(async () => {
        const { data } = await ok(at().api.get(`/audits?principal_id=${siem.id}&outcome=refused`));
        return data.length === 3 && data;
      });
      expect(refusals.map(({ action }: { action: string }) => action)).toContain('createAgent');
    });

    test('a scope contains its reads, and scopes do not raise a role', async () => {
      const member = at().as((await newKey(at(), 'member', { scopes: ['agents', 'settings'] })).value);
      await ok(member.get('/agents'));
      expectError(await member.post('/agents', { name: 'x', mode: 'worker' }), 403, /role builder/);
      expectError(await member.get('/advanced-settings'), 403, /role admin/);
      const reader = at().as((await newKey(at(), 'builder', { scopes: ['agents:read'] })).value);
      await ok(reader.get('/agents'));
      expectError(await reader.post('/agents', { name: 'x', mode: 'worker' }), 403, /scope agents,/);
    });

    test('scopes are a list of known ones, or null', async () => {
      for (const wrong of [['root'], ['agents:write'], ['AGENTS'], [null], [['agents']], [5]]) {
        const response = await create({ role: 'member', scopes: wrong });
        expectError(response, 422);
        expect(faults(response)[0]).toMatch(/^scopes/);
      }
      expectError(await create({ role: 'member', scopes: [...scopes, ...scopes] }), 422);
      const made = await ok(create({ role: 'member', scopes: ['data', 'llm:read', 'data'] }), 201);
      expect(made.scopes).toEqual(['data', 'llm:read']);
      expect((await newKey(at(), 'member', { scopes })).scopes).toEqual(scopes);
      expect((await newKey(at(), 'member', { scopes: null })).scopes).toBeNull();
    });

    test('a limited key makes no key with more scopes than it has', async () => {
      const { value } = await newKey(at(), 'admin', { scopes: ['access', 'agents:read'] });
      const by = at().as(value);
      expectError(await create({ role: 'member', scopes: ['agents'] }, by), 403, /agents/);
      expectError(await create({ role: 'member', scopes: ['access', 'audit:read'] }, by), 403, /audit:read/);
      for (const all of [{}, { scopes: null }]) {
        expectError(await create({ role: 'member', ...all }, by), 403, /scopes access, agents:read/);
      }
      for (const part of [['access:read'], ['access', 'agents:read'], ['agents:read']]) {
        expect(await ok(create({ role: 'member', scopes: part }, by), 201)).toMatchObject({ scopes: part });
      }
      const person = await newPerson(at());
      const hers = await ok(create({ kind: 'personal', scopes: ['access'] }, at().as(person.value)), 201);
      expect(hers).toMatchObject({ kind: 'personal', scopes: ['access'] });
      expectError(await create({ kind: 'personal' }, at().as(hers.value)), 403, /scopes/);
    });

    test('a key that expires makes no key that lives longer', async () => {
      const expires_at = inMs(hour);
      const by = at().as((await newKey(at(), 'admin', { expires_at })).value);
      for (const wrong of [{}, { expires_at: null }, { expires_at: inMs(2 * hour) }]) {
        const response = await create({ role: 'member', ...wrong }, by);
        expectError(response, 422);
        expect(faults(response)).toEqual(['expires_at']);
      }
      const made = await ok(create({ role: 'member', expires_at }, by), 201);
      expect(made.expires_at).toBe(expires_at);
    });

    test('MAX_API_KEY_DAYS requires an end of new keys, of persons as well', async () => {
      const endless = await newKey(at(), 'admin');
      const person = at().as((await newPerson(at())).value);
      const setting = { setting: 'MAX_API_KEY_DAYS' };
      await setSettings(at(), { MAX_API_KEY_DAYS: 7 });
      for (const [body, by] of [
        [{ role: 'member' }, at().api],
        [{ role: 'member' }, at().as(endless.value)],
        [{ kind: 'personal' }, person],
      ] as const) {
        expectError(await create(body, by), 400, /expires_at.*MAX_API_KEY_DAYS/, setting);
        expectError(await create({ ...body, expires_at: inMs(7.1 * day) }, by), 422, /7 days/, setting);
        await ok(create({ ...body, expires_at: inMs(7 * day) }, by), 201);
      }
      await ok(at().as(endless.value).get('/agents'));
      await setSettings(at(), { MAX_API_KEY_DAYS: 0 });
      await ok(create({ role: 'member' }), 201);
    });

    test('a time that RFC 3339 cannot write in UTC is 422', async () => {
      expectError(await create({ role: 'member', expires_at: '9999-12-31T23:00:00-05:00' }), 422, /10000/);
    });
  });
});

describe('a key that is deleted while it makes another', () =>
  withPlatform('postgres', (at) => {
    test('is gone only after the other is there, which ends with it', async () => {
      const { id, value } = await newKey(at(), 'admin');
      await ok(at().as(value).get('/agents'));
      // The entry of the bootstrap key's use is written afterwards, and would wait for the table, too.
      await until(async () => (await ok(at().api.get('/audits?action=bootstrap.use'))).data.length === 1);
      const [making, deleting] = await at().db.tx(async (tx) => {
        // Both requests write an entry last. What else the second one waits for is the key. Loops wait for the table, too.
        await sql`lock table audits in exclusive mode`.execute(tx);
        const waiting = (event: string) =>
          until(async () => {
            const { rows } = await sql`select 1 from pg_stat_activity a join pg_locks l using (pid)
              where a.datname = current_database() and a.wait_event_type = 'Lock' and a.wait_event = ${event}
                and l.granted and l.relation = 'api_keys'::regclass`.execute(tx);
            return rows.length > 0;
          });
        const made = at().as(value).post('/api-keys', { name: 'x', role: 'member' });
        await waiting('relation');
        const deleted = at().api.delete(`/api-keys/${id}`);
        await waiting('transactionid');
        return [made, deleted] as const;
      });
      const made = await ok(making, 201);
      expect((await ok(deleting)).ended_keys).toEqual([{ id: made.id, name: 'x' }]);
      expect((await ok(at().api.get(`/api-keys?created_by=${id}`))).data).toEqual([]);
    });
  }));
