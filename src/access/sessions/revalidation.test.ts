import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createMigrated, onPostgres } from '../../../tests/harness/database.ts';
import { dropDatabase } from '../../../tests/harness/postgres.ts';
import { testServices } from '../../../tests/harness/services.ts';
import { until } from '../../../tests/harness/wait.ts';
import { type Database, openPostgres, sql } from '../../database/index.ts';
import { ApiError } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { silentLogger } from '../../lib/log.ts';
import { systemActor } from '../../lib/principal.ts';
import { Authenticator } from '../authenticator.ts';
import { Cookies } from '../cookies.ts';
import type { IdentityResult } from '../people/identity.ts';
import type { UserRow } from '../people/store.ts';
import type { IdentityProvider, RefreshResult } from '../sign-in/provider.ts';
import { Revalidation } from './revalidation.ts';
import { Sessions } from './sessions.ts';

/** A provider whose replies a test scripts, and that keeps what it was asked. */
class ScriptedProvider implements IdentityProvider {
  readonly asked: { refreshToken: string; idToken: string | null; subject: string }[] = [];
  reply: () => Promise<RefreshResult> = async () => this.confirmed();

  confirmed(): RefreshResult {
    const n = this.asked.length;
    return {
      outcome: 'confirmed',
      identity: { issuer: 'https://id.example', subject: 'ada', claims: { n } },
      tokens: { idToken: `id ${n}`, refreshToken: `refresh ${n}` },
    };
  }

  refresh: IdentityProvider['refresh'] = (refreshToken, { idToken, subject }) => {
    this.asked.push({ refreshToken, idToken, subject });
    return this.reply();
  };
  endSessionUrl = () => null;
  revoke = async () => {};
}

/** One replica with the provider, over `db`. */
const replica = (
  db: Database,
  provider: IdentityProvider,
  confirm: () => Promise<IdentityResult> = async () => ({ user: {} as UserRow, details: {} }),
) => {
  const services = testServices(db);
  const sessions = new Sessions(services.vault, () => authenticator.invalidate());
  const identities = { signIn: confirm, confirm };
  const authenticator: Authenticator = new Authenticator({
    ...services,
    cookies: new Cookies(null),
    bootstrapHash: null,
    revalidation: new Revalidation({ ...services, sessions, identities, provider }),
  });
  const request = (value: string): Promise<string> =>
    authenticator
      .authenticate({
        token: undefined,
        cookie: `ap_session=${value}`,
        ownPage: true,
        ip: () => '192.0.2.1',
        userAgent: null,
      })
      .then(
        ({ name }) => name,
        (error: ApiError) => {
          if (error instanceof ApiError) return String(error.status);
          throw error;
        },
      );
  return { sessions, request, authenticator };
};

/** A session of Ada that was confirmed `age` seconds ago. */
const signIn = async (
  db: Database,
  sessions: Sessions,
  age: number,
  refreshToken: string | null = 'refresh 0',
) => {
  const userId = newId();
  return db.tx(async (tx) => {
    await sql`delete from users`.execute(tx);
    await sql`insert into users (id, issuer, subject, name, role)
      values (${userId}, 'https://id.example', 'ada', 'Ada', 'builder')`.execute(tx);
    const session = await sessions.create(tx, systemActor, {
      method: 'oidc',
      userId,
      providerSid: null,
      idToken: 'id 0',
      refreshToken,
      endValue: undefined,
    });
    await sql`update sessions set confirmed_at = confirmed_at - make_interval(secs => ${age})
      where id = ${session.id}`.execute(tx);
    return session;
  });
};

// biome-ignore lint/suspicious/noExplicitAny: a row, read field by field
const rowOf = async (db: Database, id: string): Promise<any> =>
  (await db.run((r) => sql`select * from sessions where id = ${id}`.execute(r))).rows[0];

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
const endsOf = async (db: Database, id: string): Promise<any[]> =>
  (
    await db.run((r) =>
      sql<{
        details: object;
      }>`select details from audits where action = 'session.end' and target_id = ${id}`.execute(r),
    )
  ).rows.map(({ details }) => details);

onPostgres((_kind, open) => {
  const withReplica = (
    fn: (parts: { db: Database; provider: ScriptedProvider } & ReturnType<typeof replica>) => Promise<void>,
    confirm?: () => Promise<IdentityResult>,
  ): Promise<void> => {
    const db = open();
    const provider = new ScriptedProvider();
    return fn({ db, provider, ...replica(db, provider, confirm) });
  };

  test('a session is confirmed once the interval is over: new tokens, sealed, and not before', () =>
    withReplica(async ({ db, provider, sessions, request }) => {
      const fresh = await signIn(db, sessions, 890);
      expect(await request(fresh.value)).toBe('Ada');
      expect(provider.asked).toEqual([]);
      const { id, value } = await signIn(db, sessions, 901);
      expect(await request(value)).toBe('Ada');
      expect(provider.asked).toEqual([{ refreshToken: 'refresh 0', idToken: 'id 0', subject: 'ada' }]);
      const row = await rowOf(db, id);
      expect(row.confirmed_at.getTime()).toBeGreaterThan(Date.now() - 60_000);
      expect(row).toMatchObject({ lease_token: null, lease_until: null, retry_at: null });
      expect(JSON.stringify(row)).not.toContain('refresh 1');
      expect(sessions.open(row.refresh_token, 'refresh_token', id)).toBe('refresh 1');
      expect(sessions.open(row.id_token, 'id_token', id)).toBe('id 1');
      expect(await request(value)).toBe('Ada');
      expect(provider.asked).toHaveLength(1);
    }));

  test('without a refresh token the provider is never asked', () =>
    withReplica(async ({ db, provider, sessions, request }) => {
      const { value } = await signIn(db, sessions, 80_000, null);
      expect(await request(value)).toBe('Ada');
      expect(provider.asked).toEqual([]);
    }));

  test('a refusal of the provider ends the session', () =>
    withReplica(async ({ db, provider, sessions, request }) => {
      const { id, value } = await signIn(db, sessions, 901);
      provider.reply = async () => ({ outcome: 'ended', reason: 'invalid_grant' });
      expect(await Promise.all([request(value), request(value)])).toEqual(['401', '401']);
      expect(await rowOf(db, id)).toBeUndefined();
      expect(await endsOf(db, id)).toMatchObject([{ reason: 'provider_refused', cause: 'invalid_grant' }]);
      expect(await request(value)).toBe('401');
      expect(provider.asked).toHaveLength(1);
    }));

  test.each([
    ['no_role', 'role_lost'],
    ['claims_incomplete', 'provider_refused'],
    ['suspended', 'provider_refused'],
  ] as const)('%s ends the session: %s', (reason, logged) =>
    withReplica(
      async ({ db, sessions, request }) => {
        const { id, value } = await signIn(db, sessions, 901);
        expect(await request(value)).toBe('401');
        expect(await rowOf(db, id)).toBeUndefined();
        expect(await endsOf(db, id)).toMatchObject([{ reason: logged, cause: reason }]);
      },
      async () => ({ user: null, refusal: { reason, message: '' }, details: {} }),
    ),
  );

  test('a provider that does not respond is asked again after 60 s; the session goes on until its longest time', () =>
    withReplica(async ({ db, provider, sessions, request, authenticator }) => {
      const { id, value } = await signIn(db, sessions, 901);
      provider.reply = async () => ({ outcome: 'unavailable', reason: 'no response' });
      expect(await request(value)).toBe('Ada');
      const row = await rowOf(db, id);
      expect(Math.abs(row.retry_at.getTime() - Date.now() - 60_000)).toBeLessThan(20_000);
      expect(row.lease_token).toBeNull();
      authenticator.invalidate();
      expect(await request(value)).toBe('Ada');
      expect(provider.asked).toHaveLength(1);
      await db.run((r) => sql`update sessions set retry_at = platform_now()`.execute(r));
      authenticator.invalidate();
      expect(await request(value)).toBe('Ada');
      expect(provider.asked).toHaveLength(2);
      await db.run((r) => sql`update sessions set created_at = created_at - interval '1 day'`.execute(r));
      authenticator.invalidate();
      expect(await request(value)).toBe('401');
    }));

  test('no transaction is open while the provider is asked, only a lease of 30 s', () =>
    withReplica(async ({ db, provider, sessions, request }) => {
      const { id, value } = await signIn(db, sessions, 901);
      // The embedded database has one connection: this would wait for ever.
      let leaseMs = 0;
      provider.reply = async () => {
        const { rows } = await db.run((r) =>
          sql<{ ms: number }>`select (extract(epoch from lease_until - platform_now()) * 1000)::float8 as ms
            from sessions where id = ${id}`.execute(r),
        );
        leaseMs = rows[0]!.ms;
        return provider.confirmed();
      };
      expect(await request(value)).toBe('Ada');
      expect(leaseMs).toBeLessThanOrEqual(30_000);
      expect(leaseMs).toBeGreaterThan(15_000);
    }));

  test('a session that ends while the provider is asked stays ended', () =>
    withReplica(async ({ db, provider, sessions, request }) => {
      const { id, value } = await signIn(db, sessions, 901);
      provider.reply = async () => {
        await db.tx((tx) => sessions.endOf(tx, systemActor, { id }, 'revoked'));
        return provider.confirmed();
      };
      expect(await request(value)).toBe('401');
      expect(await rowOf(db, id)).toBeUndefined();
    }));

  test('who lost the lease stores nothing, and ends nothing', () =>
    withReplica(async ({ db, provider, sessions, request }) => {
      for (const result of [provider.confirmed(), { outcome: 'ended', reason: 'invalid_grant' } as const]) {
        const { id, value } = await signIn(db, sessions, 901);
        const before = await rowOf(db, id);
        provider.reply = async () => {
          await db.run((r) =>
            sql`update sessions set lease_token = gen_random_uuid(), confirmed_at = platform_now()`.execute(
              r,
            ),
          );
          return result;
        };
        expect(await request(value)).toBe('Ada');
        expect((await rowOf(db, id)).refresh_token).toBe(before.refresh_token);
      }
    }));

  test('the lease of a replica that died while it asked ends, and another asks', () =>
    withReplica(async ({ db, provider, sessions, request }) => {
      const { value } = await signIn(db, sessions, 901);
      await db.run((r) =>
        sql`update sessions set lease_token = gen_random_uuid(), lease_until = platform_now() + interval '300 ms'`.execute(
          r,
        ),
      );
      expect(await request(value)).toBe('Ada');
      expect(provider.asked).toHaveLength(1);
    }));
});

test('50 requests on two replicas make one refresh, and all follow its outcome', async () => {
  const url = await createMigrated();
  const [one, two] = await Promise.all([openPostgres(url, silentLogger), openPostgres(url, silentLogger)]);
  try {
    for (const outcome of ['confirmed', 'ended', 'unavailable'] as const) {
      const provider = new ScriptedProvider();
      provider.reply = async () => {
        await sleep(400);
        return outcome === 'confirmed' ? provider.confirmed() : { outcome, reason: 'scripted' };
      };
      const replicas = [replica(one, provider), replica(two, provider)];
      const { value } = await signIn(one, replicas[0]!.sessions, 901);
      const results = await Promise.all(
        Array.from({ length: 50 }, (_, n) => replicas[n % 2]!.request(value)),
      );
      expect(new Set(results)).toEqual(new Set([outcome === 'ended' ? '401' : 'Ada']));
      expect(provider.asked).toHaveLength(1);
    }
  } finally {
    await Promise.all([one.close(), two.close()]);
    await dropDatabase(url);
  }
});

test('a request that waits for the refresh of another for 10 s gets 503 with Retry-After', {
  timeout: 90_000,
}, async () => {
  const url = await createMigrated();
  const [one, two] = await Promise.all([openPostgres(url, silentLogger), openPostgres(url, silentLogger)]);
  const asking = Promise.withResolvers<void>();
  try {
    const provider = new ScriptedProvider();
    provider.reply = () => asking.promise.then(() => provider.confirmed());
    const replicas = [replica(one, provider), replica(two, provider)];
    const { value } = await signIn(one, replicas[0]!.sessions, 901);
    const winner = replicas[0]!.request(value);
    await until(() => provider.asked.length === 1);
    const begun = performance.now();
    const others = await Promise.all(replicas.map(({ request }) => request(value)));
    expect(others).toEqual(['503', '503']);
    expect(performance.now() - begun).toBeGreaterThan(9_900);
    asking.resolve();
    expect(await winner).toBe('Ada');
    expect(await replicas[1]!.request(value)).toBe('Ada');
  } finally {
    asking.resolve();
    await Promise.all([one.close(), two.close()]);
    await dropDatabase(url);
  }
});
