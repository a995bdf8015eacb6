import { beforeEach, describe, expect, it } from 'vitest';
import { addEntries, auditParts, emptyLog, rehash, tamper, verify } from '../../tests/harness/audit.ts';
import { onPostgres } from '../../tests/harness/database.ts';
import { sql } from '../database/index.ts';
import { systemActor } from '../lib/principal.ts';
import { defaultSettings } from '../settings/settings.ts';
import { type ChainParts, chainOnce } from './chain.ts';
import { auditAll } from './entries.ts';
import { listAudits } from './list-store.ts';
import { auditRetention } from './retention.ts';
import { findChainedHash } from './store.ts';
import { verifyChain } from './verify.ts';

onPostgres((_name, open) => {
  let parts: ChainParts;
  beforeEach(async () => {
    await emptyLog(open());
    parts = auditParts(open());
  });

  /** Adds `count` entries that were written so many days ago. */
  const addOld = async (count: number, days: number) => {
    const entries = Array.from({ length: count }, () => ({ action: 'a.b', targetId: null }));
    await open().tx((tx) => auditAll(tx, systemActor, entries));
    await tamper(open(), sql`update audits set at = at - ${days} * interval '1 day' where position is null`);
    while ((await chainOnce(parts)).added > 0);
  };
  const retain = (days: number, limit = 2_000) =>
    open().tx((tx) => auditRetention(parts)(tx, { ...defaultSettings, AUDIT_RETENTION_DAYS: days }, limit));
  const newest = async () => {
    const [entry] = await open().run((executor) => listAudits(executor, { limit: 1, next: null, offset: 0 }));
    return entry!;
  };

  it('removes the entries at the start of the chain that are too old, batch by batch, and says so in the log', async () => {
    await addOld(1_500, 100);
    await addOld(5, 50);
    const hash = await open().run((executor) => findChainedHash(executor, 1_500));
    expect(await retain(0)).toBe(0);
    expect(await retain(101)).toBe(0);
    expect(await retain(90, 1_000)).toBe(1_000);
    expect(await verify(parts, null, 200)).toMatchObject({ ok: true, first_position: 1_001, checked: 505 });
    expect(await retain(90, 1_000)).toBe(500);
    expect(await newest()).toMatchObject({
      action: 'audit.retention',
      principal_id: 'system',
      details: { removed: 500, position: 1_500, hash, context: { via: 'system' } },
    });
    expect(await retain(90, 1_000)).toBe(0);
    await chainOnce(parts);
    expect(await verifyChain(parts)).toMatchObject({
      ok: true,
      checked: 7,
      first_position: 1_501,
      last_position: 1_507,
    });
    await addEntries(parts, 2_500);
    expect(await verifyChain(auditParts(open()))).toMatchObject({ ok: true, checked: 2_507 });
  });

  it('compares anchors at and after the last removed entry', async () => {
    await addOld(20, 100);
    await addOld(1, 1);
    const hashes = await Promise.all(
      [19, 20, 21].map((position) => open().run((executor) => findChainedHash(executor, position))),
    );
    await retain(90);
    const compare = async (position: number, hash: string) => {
      const { ok, anchor } = await verifyChain(parts, { position, hash });
      return [ok, anchor];
    };
    expect(await compare(19, hashes[0]!)).toEqual([true, 'before_retention']);
    expect(await compare(20, hashes[1]!)).toEqual([true, 'matches']);
    expect(await compare(20, hashes[0]!)).toEqual([false, 'differs']);
    expect(await compare(21, hashes[2]!)).toEqual([true, 'matches']);
  });

  it('never removes the last entry of the chain, nor one behind an entry that is kept', async () => {
    await addOld(3, 100);
    expect(await retain(90)).toBe(2);
    await emptyLog(open());
    parts = auditParts(open());
    await addOld(2, 10);
    await addOld(3, 100);
    expect(await retain(90)).toBe(0);
  });

  it('removes nothing that does not verify: entries that were made to look old stay', async () => {
    await addOld(10, 1);
    await tamper(open(), sql`update audits set at = at - interval '100 days' where position < 8`);
    expect(await retain(90)).toBe(0);
    expect(await verifyChain(parts)).toMatchObject({ ok: false, broken_at: 1 });
  });

  describe('after retention', () => {
    beforeEach(async () => {
      await addOld(20, 100);
      await addOld(1_010, 1);
      await retain(90);
      expect(await verifyChain(parts)).toMatchObject({
        ok: true,
        first_position: 21,
        checkpoints_checked: 2,
      });
    });

    it('the database still refuses to remove what follows', async () => {
      for (const statement of [
        sql`delete from audits where position = 21`,
        sql`delete from audits where position is null`,
        sql`delete from audit_checkpoints`,
      ]) {
        await expect(open().run((executor) => statement.execute(executor))).rejects.toThrow('append-only');
      }
    });

    it.each([
      [
        'a checkpoint of retention that is not signed',
        sql`insert into audit_checkpoints select 'retention', 0, position, hash, at, 'x', 'x' from audits where position = 100`,
      ],
      [
        'one that was moved',
        sql`update audit_checkpoints c set position = 100, hash = a.hash from audits a
          where a.position = 100 and c.kind = 'retention'`,
      ],
      [
        'an ordinary one that was declared to be of retention',
        sql`update audit_checkpoints set kind = 'retention' where kind = 'interval'`,
      ],
    ])('%s permits removing entries, and the verification finds it', async (_what, forge) => {
      await tamper(open(), forge);
      const [{ position }] = (
        await open().run((executor) =>
          sql<{ position: number }>`select max(position) as position from audit_checkpoints
            where kind = 'retention'`.execute(executor),
        )
      ).rows as [{ position: number }];
      await open().run((executor) => sql`delete from audits where position <= ${position}`.execute(executor));
      expect(await verifyChain(auditParts(open()))).toMatchObject({ ok: false });
    });

    it('entries that were edited and hashed again from there are found', async () => {
      await tamper(open(), sql`update audits set action = 'x.y' where position = 30`);
      await rehash(open(), 29);
      expect(await verifyChain(auditParts(open()))).toMatchObject({ ok: false, broken_at: 1_020 });
    });
  });
});
