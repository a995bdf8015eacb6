import { describe, expect, test } from 'vitest';
import { roleAllows, roles } from '../../src/lib/principal.ts';
import { until } from '../harness/wait.ts';
import {
  expectError,
  faults,
  newExpiringKey,
  newKey,
  ok,
  onPostgres,
  statusAfter,
  time,
  uuid,
} from './fixture.ts';
import { newPerson } from './people-fixture.ts';

describe('API keys', () => {
  onPostgres((at) => {
    test('a key is shown once, in a 201 response, and works with its role', async () => {
      const made = await newKey(at(), 'builder');
      expect(made).toEqual({
        id: expect.stringMatching(uuid),
        name: 'a builder',
        kind: 'service_account',
        role: 'builder',
        user_id: null,
        owner: { kind: 'workspace', id: null, name: null },
        scopes: null,
        status: 'active',
        prefix: made.value.slice(0, made.prefix.length),
        created_by: 'bootstrap',
        created_at: expect.stringMatching(time),
        last_used_at: null,
        last_used_ip: null,
        expires_at: null,
        replaced_by: null,
        value: expect.stringMatching(/^ap_[0-9A-Za-z]{43}[0-9A-Za-z]+$/),
      });
      expect(made.prefix.length).toBeLessThan(16);
      const { value, ...shown } = made;
      expect(await ok(at().api.get(`/api-keys/${made.id}`))).toEqual(shown);
      const { data } = await ok(at().api.get('/api-keys'));
      expect(data[0]).toEqual(shown);
      expect((await at().as(value).post('/agents', { name: 'x', mode: 'worker' })).status).toBe(200);
    });

    test('only a hash is stored, and neither it nor the value is in the audit log', async () => {
      const { value } = await newKey(at(), 'member');
      const stored = await at().sql`select k.*, a.* from api_keys k, audits a`;
      expect(stored.length).toBeGreaterThan(0);
      expect(JSON.stringify(stored)).not.toContain(value.slice(12));
    });

    test('last_used_at and its address are written', async () => {
      const made = await newKey(at(), 'member');
      await ok(at().as(made.value).get('/agents'));
      const used = await until(async () => {
        const { body } = await at().api.get(`/api-keys/${made.id}`);
        return body.last_used_at && body;
      });
      expect(used).toMatchObject({
        last_used_at: expect.stringMatching(time),
        last_used_ip: expect.stringMatching(/127\.0\.0\.1$/),
      });
    });

    test('a list is filtered by kind, person, maker and status', async () => {
      const person = await newPerson(at());
      const hers = at().as(person.value);
      const service = await newKey(at(), 'member', {}, hers);
      const ended = await newKey(at(), 'member', {}, hers);
      await at().sql`update api_keys set expires_at = platform_now() where id = ${ended.id}`;
      const ids = async (filter: string, by = at().api) =>
        (await ok(by.get(`/api-keys?${filter}`))).data.map((key: { id: string }) => key.id);
      const byHer = `created_by=${person.id}`;
      expect(await ids(byHer)).toEqual([ended.id, service.id, person.keyId]);
      expect(await ids(`${byHer}&kind=personal`)).toEqual([person.keyId]);
      expect(await ids(`user_id=${person.id}`)).toEqual([person.keyId]);
      expect(await ids(`${byHer}&status=expired`)).toEqual([ended.id]);
      expect(await ids(`${byHer}&status=active`)).toEqual([service.id, person.keyId]);
      expect(await ids(`${byHer}&status=paused`)).toEqual([]);
      expect(await ids('created_by=bootstrap', hers)).toEqual([]);
      expect(await ids(`user_id=${person.id}`, hers)).toEqual([person.keyId]);
      for (const unknown of ['user_id=x', `user_id=${ended.id}`, 'created_by=x']) {
        expect(await ids(unknown)).toEqual([]);
      }
      expect(await ok(at().api.get(`/api-keys/${ended.id}`))).toMatchObject({ status: 'expired' });
    });

    test('a revoked key is refused at once, while it is in use', async () => {
      for (let n = 0; n < 5; n++) {
        const made = await newKey(at(), 'member');
        const using = at().as(made.value);
        let revoked = false;
        const late: number[] = [];
        const busy = Array.from({ length: 4 }, async () => {
          for (;;) {
            const after = revoked;
            const { status } = await using.get('/agents?limit=1');
            if (after) return late.push(status);
          }
        });
        await ok(using.get('/agents'));
        await ok(at().api.delete(`/api-keys/${made.id}`), 204);
        revoked = true;
        expectError(await using.get('/agents'), 401, /revoked/);
        await Promise.all(busy);
        expect(late).toEqual([401, 401, 401, 401]);
      }
    });

    // These two wait at the same time, until cached keys are looked up again.
    test.concurrent('a key works until it expires', async () => {
      const expires_at = new Date(Date.now() + 60_000).toISOString();
      const made = await newKey(at(), 'member', { expires_at });
      expect(made.expires_at).toBe(expires_at);
      await ok(at().as(made.value).get('/agents'));
      const { used: soon, expiresAt } = await newExpiringKey(at(), async (key) => {
        await ok(at().as(key.value).get('/agents'));
        return key;
      });
      await at().sql`update api_keys set expires_at = platform_now() - interval '1 ms' where id = ${made.id}`;
      await until(async () => (await at().as(made.value).get('/agents')).status === 401, 2_000);
      expect(await statusAfter(expiresAt, () => at().as(soon.value).get('/agents'))).toBe(401);
      expectError(await at().as(soon.value).get('/agents'), 401, /expired/);
      const offset = await newKey(at(), 'member', { expires_at: '2099-01-01T02:00:00+02:00' });
      expect(offset.expires_at).toBe('2099-01-01T00:00:00.000Z');
    });

    test.concurrent('a personal key acts as its person, with the role that the person has now', async () => {
      const { id: user, value } = await newPerson(at());
      const hers = at().as(value);
      await ok(hers.post('/agents', { name: 'x', mode: 'worker' }));
      const second = await ok(hers.post('/api-keys', { name: 'second', kind: 'personal' }), 201);
      expect(second).toMatchObject({ kind: 'personal', role: 'builder', created_by: user });
      await at().sql`update users set role = 'member' where id = ${user}`;
      await until(
        async () => (await hers.post('/agents', { name: 'x', mode: 'worker' })).status === 403,
        2_000,
      );
      expect(
        (await ok(hers.get('/api-keys'))).data.every((key: { role: string }) => key.role === 'member'),
      ).toBe(true);
      await at().sql`delete from users where id = ${user}`;
      await until(async () => (await at().as(second.value).get('/agents')).status === 401, 2_000);
    });

    test('a service account’s key needs a role, a personal one has none, and an end is in the future', async () => {
      const { api } = at();
      expectError(await api.post('/api-keys', { name: 'x' }), 400, /role/);
      expectError(await api.post('/api-keys', { name: 5 }), 400, /role/);
      for (const [fields, path] of [
        [{ role: 'member', kind: 'personal' }, 'role'],
        [{ kind: 'personal' }, 'kind'],
        [{ role: 'member', expires_at: 'tomorrow' }, 'expires_at'],
        [{ role: 'member', expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
        [{ role: 'member', expires_at: '2027-02-30T00:00:00Z' }, 'expires_at'],
      ] as const) {
        const response = await api.post('/api-keys', { name: 'x', ...fields });
        expectError(response, 422);
        expect(faults(response)).toEqual([path]);
      }
    });

    test('no one makes a key above their own role, and the attempt is audited', async () => {
      for (const own of roles) {
        const { id, value } = await newKey(at(), own);
        for (const wanted of roles) {
          const response = await at().as(value).post('/api-keys', { name: 'x', role: wanted });
          if (roleAllows(own, wanted)) expect(response.body).toMatchObject({ role: wanted, created_by: id });
          else expectError(response, 403, new RegExp(own));
        }
        if (own === 'admin') continue;
        const refusals = await until(async () => {
          const { data } = await ok(at().api.get(`/audits?principal_id=${id}&outcome=refused`));
          return data.length > 0 && data;
        });
        expect(refusals).toMatchObject([{ action: 'createApiKey', outcome: 'refused' }]);
      }
    });

    test('everyone sees and revokes the keys that they created, an admin all keys', async () => {
      const [one, other] = [await newKey(at(), 'member'), await newKey(at(), 'builder')];
      const [a, b] = [at().as(one.value), at().as(other.value)];
      const made = await newKey(at(), 'member', {}, a);
      expect((await ok(a.get('/api-keys'))).data.map((key: { id: string }) => key.id)).toEqual([made.id]);
      expect((await ok(b.get('/api-keys'))).data).toEqual([]);
      expectError(await b.get(`/api-keys/${made.id}`), 404);
      expectError(await b.delete(`/api-keys/${made.id}`), 404);
      expectError(await a.delete(`/api-keys/${other.id}`), 404);
      expect(
        (await ok(at().api.get('/api-keys?limit=200'))).data.map((key: { id: string }) => key.id),
      ).toContain(made.id);
      await ok(a.delete(`/api-keys/${made.id}`), 204);
    });
  });
});
