import { afterEach, expect, it, vi } from 'vitest';
import { openMigrated } from '../../tests/harness/database.ts';
import { testServices } from '../../tests/harness/services.ts';
import { until } from '../../tests/harness/wait.ts';
import { sql } from '../database/index.ts';
import { newId } from '../lib/ids.ts';
import { systemActor } from '../lib/principal.ts';
import { Authenticator } from './authenticator.ts';
import { Cookies } from './cookies.ts';
import { createFirstKey } from './keys/first-key.ts';
import { newKeyValue } from './keys/key-format.ts';
import { Sessions } from './sessions/sessions.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

it('a revocation whose notification was lost takes effect after 0.9 s, even if the clock is set back', async () => {
  await using db = await openMigrated('postgres');
  const key = newKeyValue();
  await createFirstKey(db, key);
  const authenticator = new Authenticator({
    ...testServices(db),
    cookies: new Cookies(null),
    bootstrapHash: null,
    revalidation: null,
  });
  const client = { ip: () => '192.0.2.1', userAgent: null };
  expect(await authenticator.authenticateKey(key, client)).toMatchObject({ role: 'admin' });
  await db.run((r) => sql`delete from api_keys`.execute(r));
  const [wall, elapsed] = [Date.now(), performance.now()];
  vi.spyOn(Date, 'now').mockReturnValue(wall - 3_600_000);
  vi.spyOn(performance, 'now').mockReturnValue(elapsed + 1_000);
  await expect(authenticator.authenticateKey(key, client)).rejects.toMatchObject({ status: 401 });
});

it('a request begins the idle time of a session again; an open stream that looks for its access does not', async () => {
  await using db = await openMigrated('postgres');
  const services = testServices(db);
  const sessions = new Sessions(services.vault, () => {});
  const authenticator = new Authenticator({
    ...services,
    cookies: new Cookies(null),
    bootstrapHash: null,
    revalidation: null,
  });
  const userId = newId();
  const { id, value } = await db.tx(async (tx) => {
    await sql`insert into users (id, issuer, subject, name, role) values (${userId}, 'i', 's', 'Ada', 'member')`.execute(
      tx,
    );
    return sessions.create(tx, systemActor, {
      method: 'oidc',
      userId,
      providerSid: null,
      idToken: null,
      refreshToken: null,
      endValue: undefined,
    });
  });
  await db.run((r) => sql`update sessions set last_seen_at = last_seen_at - interval '5 minutes'`.execute(r));
  const seenMinutesAgo = async () => {
    const { rows } = await db.run((r) =>
      sql<{ ago: number }>`select round(extract(epoch from platform_now() - last_seen_at) / 60)::int as ago
        from sessions where id = ${id}`.execute(r),
    );
    return rows[0]!.ago;
  };
  const cookie = `ap_session=${value}`;
  const credentials = { token: undefined, cookie, ownPage: true, ip: () => '192.0.2.1', userAgent: null };
  await authenticator.authenticate({ ...credentials, recheck: true });
  await db.ping();
  expect(await seenMinutesAgo()).toBe(5);
  await authenticator.authenticate(credentials);
  await until(async () => (await seenMinutesAgo()) === 0);
});
