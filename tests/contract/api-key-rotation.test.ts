import { describe, expect, test } from 'vitest';
import { sql } from '../../src/database/index.ts';
import { until } from '../harness/wait.ts';
import { expectError, faults, newAgent, newKey, ok, onPostgres, setSettings } from './fixture.ts';
import { newPerson } from './people-fixture.ts';

const hour = 3_600_000;
const day = 24 * hour;
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
/** How far `time` is from `ms` from now. */
const offBy = (time: string, ms: number) => Math.abs(Date.parse(time) - Date.now() - ms);

describe('the rotation of an API key', () => {
  onPostgres((at) => {
    const rotate = (id: string, body?: object, by = at().api) => by.post(`/api-keys/${id}/rotate`, body);

    test('makes a key with the same rights and maker, and both work until the overlap ends', async () => {
      const old = await newKey(at(), 'admin', { scopes: ['agents', 'access'] });
      const made = await ok(rotate(old.id), 201);
      const { id, value, prefix, created_at, ...same } = made;
      expect(same).toEqual({
        name: 'a admin',
        kind: 'service_account',
        role: 'admin',
        scopes: ['agents', 'access'],
        user_id: null,
        owner: { kind: 'workspace', id: null, name: null },
        status: 'active',
        created_by: 'bootstrap',
        last_used_at: null,
        last_used_ip: null,
        expires_at: null,
        replaced_by: null,
      });
      const replaced = await ok(at().api.get(`/api-keys/${old.id}`));
      expect(replaced).toMatchObject({ replaced_by: id, status: 'active' });
      expect(offBy(replaced.expires_at, day)).toBeLessThan(10_000);
      expect(await ok(at().api.get(`/api-keys/${id}`))).toEqual({ ...same, id, prefix, created_at });
      await ok(at().as(old.value).get('/agents'));
      await ok(at().as(value).get('/agents'));
    });

    test('the service account stays who it is, whichever of its keys is used', async () => {
      const talker = await newAgent(at(), { mode: 'conversational' });
      const path = `/agents/${talker.id}/conversations`;
      const first = await newKey(at(), 'member');
      const byFirst = await ok(at().as(first.value).post(path, {}));
      const second = await ok(rotate(first.id), 201);
      const third = await ok(rotate(second.id), 201);
      const keys = [first, second, third];
      const byThird = await ok(at().as(third.value).post(path, {}));
      expect(byThird.created_by).toBe(first.id);
      for (const { id, value } of keys) {
        const seen = await ok(at().as(value).get(path));
        expect(seen.data).toEqual([byThird, byFirst]);
        const me = await ok(at().as(value, '/app/api').get('/me'));
        expect(me).toMatchObject({ principal: { id: first.id }, key_id: id });
      }
      const stranger = await newKey(at(), 'member');
      expect((await ok(at().as(stranger.value).get(path))).data).toEqual([]);
      const session = await at()
        .as(undefined, '/app/api')
        .post('/sessions', { api_key: third.value }, { headers: { 'sec-fetch-site': 'same-origin' } });
      expect(session.status, session.text).toBeLessThan(300);
      await ok(at().api.delete(`/api-keys/${first.id}`), 204);
      expect((await ok(at().as(third.value).get(path))).data).toHaveLength(2);
    });

    test('is audited with the fingerprints of both values', async () => {
      const old = await newKey(at(), 'member');
      const made = await ok(rotate(old.id, { overlap_seconds: 60 }), 201);
      const entries = async (id: string) => (await ok(at().api.get(`/audits?target_id=${id}`))).data;
      const [rotated, created] = await entries(old.id);
      expect(rotated).toMatchObject({
        action: 'api_key.rotate',
        outcome: 'done',
        details: { value: created.details.value, replaced_by: { id: made.id } },
      });
      expect(rotated.details.replaced_by.value).toMatch(/^sha256:[0-9a-f]{12}$/);
      expect(rotated.details.replaced_by.value).not.toBe(created.details.value);
      expect(JSON.stringify(rotated)).not.toContain(made.value.slice(12));
    });

    test('without an overlap ends the old key at once', async () => {
      const old = await newKey(at(), 'member');
      await ok(at().as(old.value).get('/agents'));
      const made = await ok(rotate(old.id, { overlap_seconds: 0 }), 201);
      expectError(await at().as(old.value).get('/agents'), 401, /expired/);
      await ok(at().as(made.value).get('/agents'));
      expect(await ok(at().api.get(`/api-keys/${old.id}`))).toMatchObject({ status: 'expired' });
    });

    test('never lengthens the life of the old key', async () => {
      const expires_at = inMs(hour);
      const old = await newKey(at(), 'member', { expires_at });
      await ok(rotate(old.id, { overlap_seconds: 604_800 }), 201);
      expect((await ok(at().api.get(`/api-keys/${old.id}`))).expires_at).toBe(expires_at);
    });

    test('gives the new key the life that the old one was made for, within the end of the first, or what the client gives', async () => {
      const expires_at = inMs(30 * day);
      const keys = [];
      for (let n = 0; n < 2; n++) keys.push(await newKey(at(), 'member', { expires_at }));
      expect((await ok(rotate(keys[0].id), 201)).expires_at).toBe(expires_at);
      const given = inMs(7 * day);
      const shorter = await ok(rotate(keys[1].id, { expires_at: given }), 201);
      expect(shorter.expires_at).toBe(given);
      expect(offBy((await ok(rotate(shorter.id), 201)).expires_at, 7 * day)).toBeLessThan(10_000);
      const unbounded = await ok(rotate((await newKey(at(), 'member')).id, { expires_at: given }), 201);
      const later = inMs(90 * day);
      expect((await ok(rotate(unbounded.id, { expires_at: later }), 201)).expires_at).toBe(later);
      const endless = await newKey(at(), 'member', { expires_at: '9999-12-31T23:59:59Z' });
      expect((await ok(rotate(endless.id), 201)).expires_at).toMatch(/^9999-12-31T23:59:59/);
    });

    test('is 412 for a key that was rotated or has expired, and an end in the past is 422', async () => {
      const old = await newKey(at(), 'member');
      await ok(rotate(old.id), 201);
      expectError(await rotate(old.id), 412, /already/);
      const ended = await newKey(at(), 'member', { expires_at: inMs(hour) });
      await at().sql`update api_keys set expires_at = platform_now() where id = ${ended.id}`;
      expectError(await rotate(ended.id), 412, /expired/);
      for (const expires_at of ['tomorrow', '2020-01-01T00:00:00Z'])
        expect(faults(await rotate((await newKey(at(), 'member')).id, { expires_at }))).toEqual([
          'expires_at',
        ]);
    });

    test.each([
      ['a member’s own key, without an overlap', true, { overlap_seconds: 0 }],
      ['another’s key', false, { expires_at: inMs(day) }],
    ])('of eight at the same time one succeeds: %s', async (_what, own, body) => {
      const old = await newKey(at(), 'member', { expires_at: inMs(2 * day) });
      const by = own ? at().as(old.value) : at().api;
      // Authenticated before any of them rotates.
      await ok(by.get('/agents'));
      const responses = await Promise.all(Array.from({ length: 8 }, () => rotate(old.id, body, by)));
      const statuses = responses.map(({ status }) => status);
      expect(statuses.filter((status) => status === 201)).toHaveLength(1);
      // A request that comes after the old key has ended is 401.
      expect(
        statuses.filter((status) => status !== 201 && status !== 412 && !(own && status === 401)),
      ).toEqual([]);
      const { data } = await ok(at().api.get('/api-keys?limit=200'));
      const { replaced_by } = await ok(at().api.get(`/api-keys/${old.id}`));
      const made = responses.find(({ status }) => status === 201)!.body;
      expect(replaced_by).toBe(made.id);
      expect(data.filter((key: { expires_at: string }) => key.expires_at === made.expires_at)).toHaveLength(
        1,
      );
    });

    test('a key rotates, shows and deletes itself as `self`', async () => {
      const old = await newKey(at(), 'member');
      const itself = at().as(old.value);
      expect((await ok(itself.get('/api-keys/self'))).id).toBe(old.id);
      const made = await ok(rotate('self', {}, itself), 201);
      expect(made).toMatchObject({ created_by: 'bootstrap', role: 'member' });
      expect((await ok(itself.get('/api-keys/self'))).replaced_by).toBe(made.id);
      await ok(at().as(made.value).delete('/api-keys/self'), 204);
      expectError(await at().as(made.value).get('/agents'), 401);
      // The bootstrap key is no key of the table.
      for (const response of [await at().api.get('/api-keys/self'), await rotate('self')]) {
        expectError(response, 404);
      }
    });

    test('a session of a key is bound by the key, and is not `self`', async () => {
      const expires_at = inMs(hour);
      const { id, value } = await newKey(at(), 'builder', { scopes: ['access', 'llm'], expires_at });
      const signedIn = await at().test.as(undefined, '/app/api').post('/sessions', { api_key: value });
      const headers = {
        cookie: signedIn.headers.get('set-cookie')!.split(';')[0]!,
        'sec-fetch-site': 'same-origin',
      };
      const post = (path: string, body: object) => at().as(undefined).post(path, body, { headers });
      const create = (fields: object) =>
        post('/api-keys', { name: 'x', role: 'builder', expires_at, ...fields });
      expectError(await post('/api-keys/self/rotate', {}), 404);
      expectError(await at().as(undefined).get('/api-keys/self', { headers }), 404);
      expectError(await create({ scopes: ['agents'] }), 403, /agents/);
      expectError(await create({}), 403, /scopes/);
      expectError(await create({ scopes: ['llm'], expires_at: inMs(2 * hour) }), 422, /expires_at/);
      expect(await ok(create({ scopes: ['llm'] }), 201)).toMatchObject({ created_by: id });
    });

    test('a key that expires gives itself as long a life again, and not a longer one', async () => {
      const newSelf = async () => {
        const { id, value } = await newKey(at(), 'builder', { expires_at: inMs(2 * hour) });
        await at()
          .sql`update api_keys set created_at = created_at - interval '1 hour', expires_at = expires_at - interval '1 hour'
            where id = ${id}`;
        return at().as(value);
      };
      const later = await rotate('self', { expires_at: inMs(3 * hour) }, await newSelf());
      expectError(later, 422, /expires_at/);
      expect(faults(later)).toEqual(['expires_at']);
      const given = inMs(1.5 * hour);
      expect((await ok(rotate('self', { expires_at: given }, await newSelf()), 201)).expires_at).toBe(given);
      const again = await ok(rotate('self', {}, await newSelf()), 201);
      expect(offBy(again.expires_at, 2 * hour)).toBeLessThan(10_000);
    });

    test('a key that expires gives no other key a longer life than its own', async () => {
      const expires_at = inMs(2 * hour);
      const maker = await newKey(at(), 'builder', { expires_at });
      const by = at().as(maker.value);
      const child = await newKey(at(), 'member', { expires_at }, by);
      const tooLong = await rotate(child.id, { expires_at: inMs(2.1 * hour) }, by);
      expectError(tooLong, 422, /expires_at/);
      await ok(rotate(child.id, { expires_at }, by), 201);
    });

    test('no one rotates a key of a stranger, or one with more rights than they have', async () => {
      const maker = await newKey(at(), 'builder', { scopes: ['access', 'agents'] });
      const by = at().as(maker.value);
      const child = await newKey(at(), 'builder', { scopes: ['agents', 'access:read'] }, by);
      const stranger = await newKey(at(), 'builder');
      expectError(await rotate(child.id, {}, at().as(stranger.value)), 404);
      const setMaker = (column: 'role' | 'scopes', value: string) =>
        at().sql`update api_keys set ${sql.ref(column)} = ${sql.lit(value)} where id = ${maker.id}`;
      await setMaker('scopes', '{access}');
      const narrower = await until(async () => {
        const response = await rotate(child.id, { overlap_seconds: -1 }, by);
        return response.status === 403 && response;
      });
      expectError(narrower, 403, /agents/);
      await setMaker('scopes', '{access,agents}');
      await setMaker('role', 'member');
      const lower = await until(async () => {
        const response = await rotate(child.id, { overlap_seconds: -1 }, by);
        return /role/.test(response.body.error.message) && response;
      });
      expectError(lower, 403, /member.*builder/);
      await setMaker('role', 'builder');
      await until(async () => (await rotate(child.id, {}, by)).status === 201, 2_000);
    });

    test('only its person rotates a personal key', async () => {
      const person = await newPerson(at());
      expectError(await rotate(person.keyId), 403, /person/);
      const made = await ok(rotate(person.keyId, {}, at().as(person.value)), 201);
      expect(made).toMatchObject({ kind: 'personal', user_id: person.id, role: 'builder' });
      await ok(at().as(made.value).get('/agents'));
      expect(await ok(at().as(made.value).get('/api-keys/self'))).toMatchObject({ id: made.id });
      const limited = await ok(
        at()
          .as(made.value)
          .post('/api-keys', { name: 'x', kind: 'personal', scopes: ['access'] }),
        201,
      );
      expectError(await rotate(made.id, {}, at().as(limited.value)), 403, /scopes/);
    });

    test('MAX_API_KEY_DAYS bounds the new key', async () => {
      const endless = await newKey(at(), 'member');
      const long = await newKey(at(), 'member', { expires_at: inMs(60 * day) });
      await setSettings(at(), { MAX_API_KEY_DAYS: 30 });
      const setting = { setting: 'MAX_API_KEY_DAYS' };
      expectError(await rotate(endless.id), 400, /expires_at.*MAX_API_KEY_DAYS/, setting);
      expectError(await rotate(long.id), 422, /30 days/, setting);
      expectError(await rotate(long.id, { expires_at: inMs(31 * day) }), 422, /30 days/, setting);
      await ok(rotate(long.id, { expires_at: inMs(29 * day) }), 201);
      await setSettings(at(), { MAX_API_KEY_DAYS: 0 });
    });
  });
});
