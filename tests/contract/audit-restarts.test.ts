import { expect, test } from 'vitest';
import { auditAll } from '../../src/audit/index.ts';
import { sql } from '../../src/database/index.ts';
import { systemActor } from '../../src/lib/principal.ts';
import { createMigrated } from '../harness/database.ts';
import { dropDatabase } from '../harness/postgres.ts';
import { until } from '../harness/wait.ts';
import { type Fixture, ok, setSettings, startFixture } from './fixture.ts';

/** Runs `fn` on platforms that it starts one after the other on one database, with the given keys. */
const withRestarts = async (fn: (start: (keys: Buffer[]) => Promise<Fixture>) => Promise<void>) => {
  const DATABASE_URL = await createMigrated();
  let running: Fixture | null = null;
  try {
    await fn(async (keys) => {
      await running?.test.stop();
      const ENCRYPTION_KEY = keys.map((key) => key.toString('base64')).join(',');
      running = await startFixture('embedded', { DATABASE_URL, ENCRYPTION_KEY });
      return running;
    });
  } finally {
    await (running as Fixture | null)?.test.stop();
    await dropDatabase(DATABASE_URL);
  }
};

const [a, b] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)] as const;

const add = async (at: Fixture, count: number) => {
  const entries = Array.from({ length: count }, () => ({ action: 'thing.change', targetId: null }));
  await at.db.tx((tx) => auditAll(tx, systemActor, entries));
  return until(async () => {
    // Counted each time: retention may remove the oldest in the meantime.
    const [{ total }] = await at.sql`select count(*)::int as total from audits`;
    const verified = await ok(at.api.get('/audits/verify'));
    // Entries may be chained while it verifies: it may have read less than is in the chain when it counts the rest.
    return verified.unchained === 0 && verified.checked >= total && verified;
  }, 30_000);
};

/** Moves the clock of the database for the connections that are opened from now on. */
const moveClock = async (at: Fixture, days: number) => {
  const [{ name }] = await at.sql`select current_database() as name`;
  const ms = days * 86_400_000;
  await at.sql`alter database ${sql.ref(name)} set platform.clock_offset_ms = ${sql.lit(String(ms))}`;
};

test('an encryption key can be dropped after a start that has the new one first', () =>
  withRestarts(async (start) => {
    const before = await start([a]);
    await add(before, 1_500);
    const { key_id, public_key, signed_text } = await ok(before.api.get('/audits/checkpoint'));
    await start([b, a]);
    const after = await start([b]);
    expect(await add(after, 1_000)).toMatchObject({ ok: true, checkpoints_checked: 2 });
    const rows = await after.sql`select distinct key_id from audit_checkpoints`;
    expect(rows.length).toBe(1);
    expect(rows[0].key_id).not.toBe(key_id);
    const now = await ok(after.api.get('/audits/checkpoint'));
    expect(now.public_key).not.toBe(public_key);
    expect(JSON.parse(now.signed_text).number).toBe(JSON.parse(signed_text).number + 1);
  }));

test('a key that was dropped before that is a fault, until it is back', () =>
  withRestarts(async (start) => {
    await add(await start([a]), 1_000);
    const without = await start([b]);
    expect(await ok(without.api.get('/audits/verify'))).toMatchObject({ ok: false, broken_at: null });
    expect((await ok(without.api.get('/audits/checkpoint'))).public_key).toBeNull();
    const back = await start([b, a]);
    expect(await ok(back.api.get('/audits/verify'))).toMatchObject({ ok: true, checkpoints_checked: 1 });
  }));

test(
  'after an hour with entries there is a checkpoint, and after AUDIT_RETENTION_DAYS the old ones are gone',
  () =>
    withRestarts(async (start) => {
      await moveClock(await start([a]), -100);
      const old = await start([a]);
      const { last_position, last_hash } = await add(old, 50);
      expect((await old.api.get('/audits/checkpoint')).status).toBe(404);
      await setSettings(old, { AUDIT_RETENTION_DAYS: 90 });
      await moveClock(old, 0);

      const now = await start([a]);
      const checkpoint = await until(async () => (await now.api.get('/audits/checkpoint')).body.position);
      expect(checkpoint).toBeGreaterThanOrEqual(last_position);
      // The newest entry of the chain always stays, so the first run keeps one until something else is chained.
      await add(now, 1);
      await start([a]);
      const later = await start([a]);
      const verified = await until(async () => {
        const found = await ok(later.api.get('/audits/verify'));
        return found.first_position > last_position && found;
      });
      expect(verified).toMatchObject({ ok: true, broken_at: null });
      const [entry] = (await ok(later.api.get('/audits?action=audit.retention'))).data;
      expect(entry).toMatchObject({
        principal: { kind: 'system', id: 'system' },
        context: { via: 'system' },
        details: { removed: expect.any(Number), position: verified.first_position - 1 },
      });
      expect(
        await ok(later.api.get(`/audits/verify?position=${last_position}&hash=${last_hash}`)),
      ).toMatchObject({ ok: true, anchor: 'before_retention' });
      await expect(later.sql`delete from audits`).rejects.toThrow('append-only');
    }),
  60_000,
);
