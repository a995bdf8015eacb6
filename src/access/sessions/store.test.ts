import { expect, test } from 'vitest';
import { eachDatabase } from '../../../tests/harness/database.ts';
import { sql } from '../../database/index.ts';
import { Vault } from '../../lib/crypto.ts';
import { newId } from '../../lib/ids.ts';
import { systemActor } from '../../lib/principal.ts';
import { rotateCredentials } from '../../services.ts';
import { Sessions } from './sessions.ts';
import { deleteEndedSessions } from './store.ts';

const limits = { SESSION_IDLE_SECONDS: 100, SESSION_MAX_SECONDS: 200, SESSION_REVALIDATION_SECONDS: 50 };
const key = (n: number) => Buffer.alloc(32, n);

eachDatabase((_kind, open) => {
  const signIn = (sessions: Sessions) =>
    open().tx(async (tx) => {
      const userId = newId();
      await sql`insert into users (id, issuer, subject, name, role)
        values (${userId}, 'https://id.example', ${userId}, 'Ada', 'builder')`.execute(tx);
      return sessions.create(tx, systemActor, {
        method: 'oidc',
        userId,
        providerSid: null,
        idToken: 'the ID token',
        refreshToken: 'the refresh token',
        endValue: undefined,
      });
    });

  test('retention deletes the sessions that the limits have ended, a batch at a time, and no other', async () => {
    const db = open();
    const sessions = new Sessions(new Vault([key(1)]), () => {});
    const [idle, old, both, good] = [
      await signIn(sessions),
      await signIn(sessions),
      await signIn(sessions),
      await signIn(sessions),
    ];
    const age = (id: string, column: string, seconds: number) =>
      db.run((r) =>
        sql`update sessions set ${sql.ref(column)} = platform_now() - make_interval(secs => ${seconds}) where id = ${id}`.execute(
          r,
        ),
      );
    await age(idle.id, 'last_seen_at', 101);
    await age(old.id, 'created_at', 201);
    await age(both.id, 'created_at', 201);
    await age(both.id, 'last_seen_at', 101);
    await age(good.id, 'created_at', 190);
    await age(good.id, 'last_seen_at', 90);
    const removed = [];
    for (let i = 0; i < 3; i++) removed.push(await db.tx((tx) => deleteEndedSessions(tx, limits, 2)));
    expect(removed).toEqual([2, 1, 0]);
    const { rows } = await db.run((r) => sql`select id from sessions`.execute(r));
    expect(rows).toEqual([{ id: good.id }]);
  });

  test('tokens are sealed for their row and column, and again when the encryption key changes', async () => {
    const db = open();
    const sessions = new Sessions(new Vault([key(1)]), () => {});
    const [one, two] = [await signIn(sessions), await signIn(sessions)];
    await rotateCredentials({ db, vault: new Vault([key(2), key(1)]) }, sessions.secrets);
    const rotated = new Sessions(new Vault([key(2)]), () => {});
    const rowOf = async (id: string) =>
      (
        await db.run((r) =>
          sql<{ id_token: string; refresh_token: string }>`select * from sessions where id = ${id}`.execute(
            r,
          ),
        )
      ).rows[0]!;
    const row = await rowOf(one.id);
    expect(rotated.open(row.id_token, 'id_token', one.id)).toBe('the ID token');
    expect(rotated.open(row.refresh_token, 'refresh_token', one.id)).toBe('the refresh token');
    expect(() => rotated.open(row.refresh_token, 'id_token', one.id)).toThrow();
    expect(() => rotated.open(row.refresh_token, 'refresh_token', two.id)).toThrow();
  });
});
