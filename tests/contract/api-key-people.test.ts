import { describe, expect, test } from 'vitest';
import { sql } from '../../src/database/index.ts';
import { until } from '../harness/wait.ts';
import { expectError, type Fixture, newKey, ok, onPostgres, setSettings, useReplicas } from './fixture.ts';
import { newPerson } from './people-fixture.ts';

const update = (at: Fixture, id: string, fields: ReturnType<typeof sql>) =>
  at.sql`update users set ${fields} where id = ${id}`;

/** Resolves when the key gets `status`, which no notification brings: what is cached lasts less than a second. */
const gets = (at: Fixture, value: string, status: number) =>
  until(async () => {
    // Each 401 takes from the bucket of this address: it is full again a minute later.
    at.test.clock.advance(60_000);
    const response = await at.as(value).get('/agents?limit=1');
    return response.status === status && response;
  }, 1_500);

describe('a personal key', () => {
  onPostgres((at) => {
    test.concurrent.each([
      ['is suspended', sql`status = 'suspended'`, sql`status = 'active'`, /suspended/, 'builder'],
      [
        'is unbound',
        sql`issuer = null, subject = null, status = 'invited'`,
        sql`issuer = 'i', subject = id::text, status = 'active'`,
        /sign in first/,
        'builder',
      ],
      ['has no role', sql`role = null`, sql`role = 'builder'`, /no role/, null],
      [
        'was not confirmed for 30 days',
        sql`last_confirmed_at = platform_now() - interval '30 days 1 second'`,
        sql`last_confirmed_at = platform_now() - interval '29 days 23 hours'`,
        /30 days.*sign-in/,
        'builder',
      ],
      [
        'was never confirmed, and came 30 days ago',
        sql`last_confirmed_at = null, created_at = platform_now() - interval '31 days'`,
        sql`created_at = platform_now()`,
        /30 days/,
        'builder',
      ],
    ])(
      'is 401 and says why while its person %s, and works again afterwards',
      async (_what, pause, wake, why, role) => {
        const { id, keyId, value } = await newPerson(at());
        await gets(at(), value, 200);
        await update(at(), id, pause);
        expectError(await gets(at(), value, 401), 401, why);
        expect(await ok(at().api.get(`/api-keys/${keyId}`))).toMatchObject({ status: 'paused', role });
        const paused = await ok(at().api.get(`/api-keys?status=paused&user_id=${id}`));
        expect(paused.data.map((key: { id: string }) => key.id)).toEqual([keyId]);
        expect((await ok(at().api.get(`/api-keys?status=active&user_id=${id}`))).data).toEqual([]);
        await update(at(), id, wake);
        await gets(at(), value, 200);
        expect(await ok(at().api.get(`/api-keys/${keyId}`))).toMatchObject({ status: 'active' });
      },
    );

    test('does not pause for want of a confirmation if PERSONAL_KEY_CONFIRMATION_DAYS is 0', async () => {
      const { id, keyId, value } = await newPerson(at());
      await update(at(), id, sql`last_confirmed_at = platform_now() - interval '2 days'`);
      await setSettings(at(), { PERSONAL_KEY_CONFIRMATION_DAYS: 1 });
      await gets(at(), value, 401);
      await setSettings(at(), { PERSONAL_KEY_CONFIRMATION_DAYS: 0 });
      await gets(at(), value, 200);
      expect(await ok(at().api.get(`/api-keys/${keyId}`))).toMatchObject({ status: 'active' });
      await setSettings(at(), { PERSONAL_KEY_CONFIRMATION_DAYS: 30 });
    });

    test('that has expired says so, whatever its person may do', async () => {
      const { id, keyId, value } = await newPerson(at());
      await update(at(), id, sql`status = 'suspended'`);
      await at().sql`update api_keys set expires_at = platform_now() where id = ${keyId}`;
      expectError(await at().as(value).get('/agents'), 401, /expired/);
      expect(await ok(at().api.get(`/api-keys/${keyId}`))).toMatchObject({ status: 'expired' });
    });
  });
});

describe('two replicas on one database', () => {
  let a: Fixture;
  let b: Fixture;
  useReplicas((...replicas) => {
    [a, b] = replicas;
  });

  test('a person who is suspended loses the personal key here at once and there within a second, and gets it back so', async () => {
    const { id, value } = await newPerson(a);
    await Promise.all([gets(a, value, 200), gets(b, value, 200)]);
    await ok(a.api.patch(`/users/${id}`, { status: 'suspended' }));
    expectError(await a.as(value).get('/agents'), 401, /suspended/);
    await until(async () => (await b.as(value).get('/agents')).status === 401, 1_000);
    await ok(b.api.patch(`/users/${id}`, { status: 'active' }));
    await ok(b.as(value).get('/agents'));
    await until(async () => (await a.as(value).get('/agents')).status === 200, 1_000);
  });

  test('a person who is deleted leaves no key, here or there', async () => {
    const { id, value } = await newPerson(a);
    const service = await newKey(a, 'member', {}, a.as(value));
    await ok(b.as(service.value).get('/agents'));
    await ok(a.api.delete(`/users/${id}`), 204);
    expectError(await a.as(value).get('/agents'), 401);
    for (const gone of [value, service.value]) {
      await until(async () => (await b.as(gone).get('/agents')).status === 401, 1_000);
    }
    expect((await ok(b.api.get(`/api-keys?created_by=${id}`))).data).toEqual([]);
  });

  test('a rotation without an overlap ends the old key on the other replica within a second', async () => {
    const { value } = await newPerson(a);
    await gets(b, value, 200);
    await ok(a.as(value).post('/api-keys/self/rotate', { overlap_seconds: 0 }), 201);
    await until(async () => (await b.as(value).get('/agents')).status === 401, 1_000);
  });

  test('the bootstrap key, used on both at once, is audited once an hour with its address', async () => {
    const uses = async () => (await ok(a.api.get('/audits?action=bootstrap.use'))).data;
    await Promise.all(Array.from({ length: 20 }, (_, n) => [a, b][n % 2]!.api.get('/agents')));
    const [first] = await until(async () => {
      const found = await uses();
      return found.length > 0 && found;
    });
    expect(first).toMatchObject({
      outcome: 'done',
      principal: { id: 'bootstrap' },
      context: { ip: expect.stringMatching(/127\.0\.0\.1$/) },
    });
    const useBoth = async () => {
      for (const replica of [a, b]) {
        replica.test.clock.advance(60_000);
        await ok(replica.api.get('/agents'));
      }
    };
    await a.sql`update bootstrap_uses set used_at = used_at - interval '59 minutes'`;
    await useBoth();
    await a.sql`update bootstrap_uses set used_at = used_at - interval '1 minute'`;
    await useBoth();
    await until(async () => (await uses()).length === 2);
    await useBoth();
    expect(await uses()).toHaveLength(2);
  });

  test('the bootstrap key works when all tables are empty', async () => {
    await a.sql`truncate users, api_keys, role_mappings, sessions, advanced_settings, bootstrap_uses cascade`;
    for (const replica of [a, b]) {
      await ok(replica.api.get('/agents'));
      await ok(replica.api.post('/api-keys', { name: 'again', role: 'admin' }), 201);
    }
  });
});
