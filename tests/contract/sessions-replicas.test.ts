import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { advisoryLock, sql } from '../../src/database/index.ts';
import { adminKey } from '../harness/process.ts';
import { until } from '../harness/wait.ts';
import {
  expectError,
  type Fixture,
  newKey,
  ok,
  query,
  setSettings,
  startFixture,
  useReplicas,
} from './fixture.ts';
import { browser, signIn } from './sessions-fixture.ts';

describe('two replicas on one database', () => {
  let env: Record<string, string>;
  let a: Fixture;
  let b: Fixture;
  useReplicas((...replicas) => {
    [a, b, env] = replicas;
  });

  test.each([
    ['signed out', (session: Awaited<ReturnType<typeof signIn>>) => session.page.post('/sign-out'), 200],
    [
      'revoked',
      (session: Awaited<ReturnType<typeof signIn>>) => a.app.delete(`/sessions/${session.me.session.id}`),
      204,
    ],
    [
      'of a revoked key',
      (session: Awaited<ReturnType<typeof signIn>>) => a.api.delete(`/api-keys/${session.me.key_id}`),
      204,
    ],
  ])(
    'a session that is %s on one ends on the other within a second, though it was just used there',
    async (_how, end, status) => {
      const session = await signIn(a, (await newKey(a, 'admin')).value);
      const there = browser(b, session.cookie);
      await ok(there.get('/me'));
      expect((await end(session)).status).toBe(status);
      expectError(await session.page.get('/me'), 401);
      await until(async () => (await there.get('/me')).status === 401, 1_000);
    },
  );

  test('a lower limit holds on both', async () => {
    const { cookie, me } = await signIn(a, adminKey);
    const there = browser(b, cookie);
    await query(
      a,
      sql`update sessions set created_at = created_at - interval '1 hour' where id = ${me.session.id}`,
    );
    await ok(there.get('/me'));
    await setSettings(a, { SESSION_MAX_SECONDS: 3_000 });
    await until(async () => (await there.get('/me')).status === 401, 1_000);
    await setSettings(a, { SESSION_MAX_SECONDS: 86_400 });
  });

  test('of 60 sign-ins on both at once, 50 sessions stay', async () => {
    const key = await newKey(a, 'member');
    await Promise.all(Array.from({ length: 60 }, (_, n) => signIn([a, b][n % 2]!, key.value)));
    const { data } = await ok(b.as(key.value, '/app/api').get('/sessions?limit=200'));
    expect(data).toHaveLength(50);
  });

  test('a sign-in with a key and the deletion of its person do not deadlock', async () => {
    const key = await newKey(a, 'member');
    let signedIn: ReturnType<Fixture['api']['post']> | undefined;
    await a.db.tx(async (tx) => {
      await advisoryLock(tx, 'access');
      signedIn = b.as(undefined, '/app/api').post('/sessions', { api_key: key.value });
      await sleep(200);
      // Shorter than the second after which PostgreSQL resolves a deadlock.
      await sql`set local lock_timeout = '500ms'`.execute(tx);
      await sql`delete from api_keys where id = ${key.id}`.execute(tx);
    });
    expectError((await signedIn)!, 401, /revoked/);
  });

  test.each([
    ['changed', 'another-key-of-the-tests-0123456789abcdef'],
    ['unset', ''],
  ])('a session of the bootstrap key ends for ever when the key is %s', async (_how, key) => {
    const { cookie, page } = await signIn(a, adminKey);
    await ok(page.get('/me'));
    const restarted = await startFixture('embedded', { ...env, BOOTSTRAP_ADMIN_API_KEY: key });
    try {
      expectError(await browser(restarted, cookie).get('/me'), 401);
      await until(async () => (await page.get('/me')).status === 401, 2_000);
    } finally {
      await restarted.test.stop();
    }
  });
});
