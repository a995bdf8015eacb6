import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  addEntries,
  asOldRelease,
  auditParts,
  emptyLog,
  rehash,
  tamper,
  verify,
} from '../../tests/harness/audit.ts';
import { onPostgres } from '../../tests/harness/database.ts';
import { sql } from '../database/index.ts';
import { systemActor } from '../lib/principal.ts';
import { chainOnce } from './chain.ts';
import { insertSigned, signAgain } from './checkpoints.ts';
import { auditAll } from './entries.ts';
import { findChainedHash } from './store.ts';

onPostgres((_name, open) => {
  beforeEach(() => emptyLog(open()));

  const checkpoints = async () =>
    (
      await open().run((executor) =>
        sql<{ number: number; position: number }>`select number, position from audit_checkpoints
          order by position`.execute(executor),
      )
    ).rows;
  const hashAt = (position: number) => open().run((executor) => findChainedHash(executor, position));

  it('an empty log verifies', async () => {
    expect(await verify(auditParts(open()))).toEqual({
      ok: true,
      checked: 0,
      broken_at: null,
      last_hash: '0'.repeat(64),
      first_position: null,
      last_position: null,
      unchained: 0,
      checkpoints_checked: 0,
      anchor: null,
    });
  });

  it('a checkpoint is signed at every 1,000th entry, and each is checked', async () => {
    const parts = auditParts(open());
    await addEntries(parts, 3_500);
    expect(await checkpoints()).toEqual([1, 2, 3].map((number) => ({ number, position: number * 1_000 })));
    await open().tx((tx) => auditAll(tx, systemActor, [{ action: 'a.b', targetId: null }]));
    expect(await verify(parts)).toEqual({
      ok: true,
      checked: 3_500,
      broken_at: null,
      last_hash: await hashAt(3_500),
      first_position: 1,
      last_position: 3_500,
      unchained: 1,
      checkpoints_checked: 3,
      anchor: null,
    });
  });

  it('a checkpoint is signed when an hour has passed since the last one, or since the first entry', async () => {
    const parts = auditParts(open());
    const write = (ago: string) =>
      open()
        .tx((tx) => auditAll(tx, systemActor, [{ action: 'a.b', targetId: null }]))
        .then(() => tamper(open(), sql`update audits set at = at - ${ago}::interval where position is null`))
        .then(() => chainOnce(parts));
    await write('59 minutes');
    expect(await checkpoints()).toEqual([]);
    await emptyLog(open());
    await write('61 minutes');
    expect(await checkpoints()).toEqual([{ number: 1, position: 1 }]);
    await write('61 minutes');
    await chainOnce(parts);
    expect(await checkpoints()).toEqual([{ number: 1, position: 1 }]);
    expect(await verify(parts)).toMatchObject({ ok: true, checked: 2, checkpoints_checked: 1 });
  });

  it('of checkpoints close together, a missing one is found by its number, and the newest one by a process that has seen it', async () => {
    const parts = auditParts(open());
    await addEntries(parts, 35);
    for (const number of [1, 2, 3]) {
      const position = number * 10;
      const hash = (await hashAt(position))!;
      await open().tx((tx) => insertSigned(tx, parts.vault, { kind: 'interval', number, position, hash }));
    }
    await chainOnce(parts);
    expect(await verify(parts)).toMatchObject({ ok: true, checkpoints_checked: 3 });
    await tamper(open(), sql`delete from audit_checkpoints where number = 3`);
    expect(await verify(parts)).toMatchObject({ ok: false, broken_at: null, checkpoints_checked: 2 });
    // Another process cannot see this: only an anchor outside shows it.
    expect(await verify(auditParts(open()))).toMatchObject({ ok: true });
    await tamper(open(), sql`delete from audit_checkpoints where number = 1`);
    expect(await verify(auditParts(open()))).toMatchObject({ ok: false, broken_at: null });
  });

  it('a log of a release without contexts and checkpoints verifies, before and after the first checkpoint', async () => {
    const parts = auditParts(open());
    const entries = Array.from({ length: 2_500 }, () => ({ action: 'a.b', targetId: null }));
    await open().tx((tx) => auditAll(tx, systemActor, entries));
    await asOldRelease(open());
    await tamper(
      open(),
      sql`update audits set position = numbered.n, hash = ''
        from (select id, row_number() over (order by id) as n from audits) numbered where numbered.id = audits.id`,
    );
    await rehash(open(), 0);
    expect(await verify(parts)).toMatchObject({ ok: true, checked: 2_500, checkpoints_checked: 0 });
    await addEntries(parts, 10);
    expect(await checkpoints()).toEqual([{ number: 1, position: 2_510 }]);
    await addEntries(parts, 1_000);
    expect(await verify(parts)).toMatchObject({ ok: true, checked: 3_510, checkpoints_checked: 2 });
  });

  describe('of a log of 2,500 entries with 2 checkpoints', () => {
    let parts: ReturnType<typeof auditParts>;
    const tables = ['audits', 'audit_checkpoints'];
    // Made once: each test begins with a copy.
    beforeAll(async () => {
      await emptyLog(open());
      await addEntries(auditParts(open()), 2_500);
      for (const table of tables) {
        await open().run((executor) =>
          sql`create table ${sql.table(`saved_${table}`)} as select * from ${sql.table(table)}`.execute(
            executor,
          ),
        );
      }
    });
    beforeEach(async () => {
      for (const table of tables) {
        await tamper(
          open(),
          sql`insert into ${sql.table(table)} select * from ${sql.table(`saved_${table}`)}`,
        );
      }
      parts = auditParts(open());
      await chainOnce(parts);
    });
    const restarted = () => auditParts(open());
    const edited = sql`update audits set details = '{"n": "forged"}' where position = 1500`;

    it('holds', async () => {
      expect(await verify(parts)).toMatchObject({ ok: true, checked: 2_500, checkpoints_checked: 2 });
    });

    it('an entry that was edited is found', async () => {
      await tamper(open(), edited);
      expect(await verify(restarted())).toMatchObject({ ok: false, checked: 1_499, broken_at: 1_500 });
    });

    it('an entry that was removed is found', async () => {
      await tamper(open(), sql`delete from audits where position = 1500`);
      expect(await verify(restarted())).toMatchObject({ ok: false, checked: 1_499, broken_at: 1_500 });
    });

    it('removed first entries are found', async () => {
      await tamper(open(), sql`delete from audits where position <= 1000`);
      expect(await verify(restarted())).toMatchObject({
        ok: false,
        checked: 0,
        broken_at: 1,
        first_position: 1_001,
      });
    });

    it('an entry that was edited, with all hashes after it computed again, is found by the next checkpoint', async () => {
      await tamper(open(), edited);
      await rehash(open(), 1_499);
      expect(await verify(restarted())).toMatchObject({ ok: false, broken_at: 2_000 });
      await addEntries(parts, 1_000);
      expect(await verify(restarted())).toMatchObject({ ok: false, broken_at: 2_000 });
    });

    it('an end that was cut off is found, if there was a checkpoint in it', async () => {
      await tamper(open(), sql`delete from audits where position > 1900`);
      expect(await verify(restarted())).toMatchObject({ ok: false, checked: 1_900, broken_at: 1_901 });
    });

    it('a missing checkpoint in the middle is found, for ever', async () => {
      await tamper(open(), sql`delete from audit_checkpoints where number = 1`);
      expect(await verify(restarted())).toMatchObject({ ok: false, checked: 2_500, broken_at: null });
      await addEntries(restarted(), 1_000);
      expect(await verify(restarted())).toMatchObject({ ok: false, checked: 3_500, broken_at: null });
    });

    it('a missing newest checkpoint is found while a process runs that has seen it, which signs no further one', async () => {
      const { rows } = await open().run((executor) =>
        sql<{ row: object }>`select to_jsonb(c) as row from audit_checkpoints c where number = 2`.execute(
          executor,
        ),
      );
      await tamper(open(), sql`delete from audit_checkpoints where number = 2`);
      await addEntries(parts, 2_000);
      expect(await checkpoints()).toEqual([{ number: 1, position: 1_000 }]);
      expect(await verify(parts)).toMatchObject({ ok: false, checked: 4_500, broken_at: null });
      await tamper(
        open(),
        sql`insert into audit_checkpoints
          select * from jsonb_populate_record(null::audit_checkpoints, ${JSON.stringify(rows[0]!.row)}::jsonb)`,
      );
      expect(await verify(auditParts(open()))).toMatchObject({ ok: false });
    });

    it('a missing run of checkpoints is found after a restart too, and for ever', async () => {
      await tamper(open(), sql`delete from audit_checkpoints`);
      expect(await verify(restarted())).toMatchObject({ ok: false, broken_at: null });
      await addEntries(restarted(), 10);
      expect(await checkpoints()).toEqual([{ number: 1, position: 2_510 }]);
      expect(await verify(restarted())).toMatchObject({ ok: false, checkpoints_checked: 1 });
    });

    it.each([
      ['hash', sql`update audit_checkpoints set hash = repeat('0', 64) where number = 1`],
      ['time', sql`update audit_checkpoints set at = at - interval '1 day' where number = 1`],
      ['number', sql`update audit_checkpoints set number = number + 1`],
      ['kind', sql`update audit_checkpoints set kind = 'retention' where number = 1`],
      ['signature', sql`update audit_checkpoints set signature = 'AAAA' where number = 1`],
      ['key', sql`update audit_checkpoints set key_id = 'unknown' where number = 1`],
    ])('a checkpoint of which the %s was changed is found', async (_what, change) => {
      await tamper(open(), change);
      expect(await verify(restarted())).toMatchObject({ ok: false });
    });

    it('checkpoints that someone signed with another key are found', async () => {
      await tamper(open(), sql`delete from audit_checkpoints`);
      await tamper(open(), edited);
      await rehash(open(), 1_499);
      const stranger = auditParts(open(), [Buffer.alloc(32, 66)]);
      await addEntries(stranger, 10);
      const { keyId } = parts.vault;
      await tamper(open(), sql`update audit_checkpoints set key_id = ${keyId}`);
      expect(await verify(restarted())).toMatchObject({ ok: false, checkpoints_checked: 0 });
    });

    it('compares an anchor', async () => {
      const hash = (await hashAt(1_234))!;
      const compare = async (position: number, noted: string) => {
        const { ok, anchor } = await verify(parts, { position, hash: noted });
        return [ok, anchor];
      };
      expect(await compare(1_234, hash)).toEqual([true, 'matches']);
      expect(await compare(1_233, hash)).toEqual([false, 'differs']);
      expect(await compare(2_501, hash)).toEqual([false, 'beyond_end']);
      await tamper(open(), sql`delete from audits where position > 2000`);
      await rehash(open(), 2_000);
      expect(await verify(restarted())).toMatchObject({ ok: true, last_position: 2_000 });
      expect(await compare(2_400, hash)).toEqual([false, 'beyond_end']);
    });

    it('a new encryption key signs all checkpoints again, so that the old one can be dropped', async () => {
      const [old, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
      const onlyNew = () => verify(auditParts(open(), [other]));
      expect(await onlyNew()).toMatchObject({ ok: false, checkpoints_checked: 0 });
      await tamper(open(), sql`update audit_checkpoints set hash = repeat('0', 64) where number = 1`);
      await signAgain(open(), auditParts(open(), [other, old]).vault);
      // A checkpoint that did not verify is not made genuine.
      expect(await onlyNew()).toMatchObject({ ok: false, checkpoints_checked: 1 });
      await tamper(
        open(),
        sql`update audit_checkpoints set hash = (select hash from audits where position = 1000) where number = 1`,
      );
      await signAgain(open(), auditParts(open(), [other, old]).vault);
      expect(await onlyNew()).toMatchObject({ ok: true, checkpoints_checked: 2 });
      expect(await verify(auditParts(open(), [old]))).toMatchObject({ ok: false });
    });
  });

  it('the database refuses to change, remove and truncate entries and checkpoints', async () => {
    await addEntries(auditParts(open()), 1_000);
    for (const statement of [
      sql`update audits set action = 'x'`,
      sql`delete from audits`,
      sql`truncate audits`,
      sql`update audit_checkpoints set position = 1`,
      sql`delete from audit_checkpoints`,
      sql`truncate audit_checkpoints`,
    ]) {
      await expect(open().run((executor) => statement.execute(executor))).rejects.toThrow('append-only');
    }
  });
});
