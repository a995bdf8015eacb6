import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { type ChainParts, chainOnce } from '../../src/audit/chain.ts';
import { Witness } from '../../src/audit/checkpoints.ts';
import { auditAll } from '../../src/audit/entries.ts';
import { type Anchor, type Verification, verifyChain } from '../../src/audit/verify.ts';
import { verifyPart } from '../../src/audit/verify-part.ts';
import { type Database, type RawBuilder, sql } from '../../src/database/index.ts';
import { Vault } from '../../src/lib/crypto.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { type Actor, systemActor } from '../../src/lib/principal.ts';

/** What one process has: the key of the platform, and what it has seen. */
export const auditParts = (db: Database, keys = [Buffer.alloc(32, 1)]): ChainParts => ({
  db,
  vault: new Vault(keys),
  log: silentLogger,
  witness: new Witness(),
});

/** Runs one statement as someone who can write the database: no trigger refuses it. */
export const tamper = (db: Database, statement: RawBuilder<unknown>): Promise<void> =>
  db.tx(async (tx) => {
    for (const table of ['audits', 'audit_checkpoints']) {
      await sql`alter table ${sql.table(table)} disable trigger user`.execute(tx);
    }
    await statement.execute(tx);
    for (const table of ['audits', 'audit_checkpoints']) {
      await sql`alter table ${sql.table(table)} enable trigger user`.execute(tx);
    }
  });

/** An audit log without entries. */
export const emptyLog = async (db: Database): Promise<void> => {
  await tamper(db, sql`delete from audits`);
  await tamper(db, sql`delete from audit_checkpoints`);
  await tamper(db, sql`update audit_copy set position = 0`);
};

/** Adds `count` entries and brings them into the chain. */
export const addEntries = async (
  parts: ChainParts,
  count: number,
  actor: Actor = systemActor,
): Promise<void> => {
  const entries = Array.from({ length: count }, (_, n) => ({
    action: 'thing.change',
    targetId: null,
    details: { n },
  }));
  await parts.db.tx((tx) => auditAll(tx, actor, entries));
  while ((await chainOnce(parts)).added > 0);
};

/** Takes the context from all entries that are not chained, as a release before it wrote them. */
export const asOldRelease = (db: Database): Promise<void> =>
  tamper(db, sql`update audits set details = details - 'context' where position is null`);

const sorted = (value: unknown): unknown =>
  value !== null && typeof value === 'object' && !(value instanceof Date) && !Array.isArray(value)
    ? Object.fromEntries(
        Object.entries(value)
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([key, inner]) => [key, sorted(inner)]),
      )
    : value;

/** The documented hash, implemented again: anyone who can write the table can compute it. */
const documentedHash = (
  before: string,
  { hash: _hash, position, ...fields }: Record<string, unknown>,
): string =>
  createHash('sha256')
    .update(`${before}\n${position}\n${JSON.stringify(sorted(fields))}`)
    .digest('hex');

/** Computes the hashes of the chain again after the position `after`, as someone who changed entries would. */
export const rehash = async (db: Database, after: number): Promise<void> => {
  const { rows } = await db.run((executor) =>
    sql<Record<string, unknown>>`select * from audits where position >= ${after} order by position`.execute(
      executor,
    ),
  );
  let hash = after === 0 ? '0'.repeat(64) : (rows.shift()!.hash as string);
  const hashes = rows.map((row) => {
    hash = documentedHash(hash, row);
    return hash;
  });
  await tamper(
    db,
    sql`update audits set hash = again.hash
      from unnest(${rows.map((row) => row.position)}::bigint[], ${hashes}::text[]) as again(position, hash)
      where audits.position = again.position`,
  );
};

/** Verifies the whole log in parts of `limit` entries, and puts together what they found. */
const verifyInParts = async (parts: ChainParts, limit: number): Promise<Verification> => {
  let sum = { ok: true, checked: 0, checkpoints_checked: 0 };
  for (let after: Anchor | null = null; ; ) {
    const { position, hash, done, ok, checked, checkpoints_checked, ...part } = await verifyPart(
      parts,
      after,
      limit,
    );
    sum = {
      ok: sum.ok && ok,
      checked: sum.checked + checked,
      checkpoints_checked: sum.checkpoints_checked + checkpoints_checked,
    };
    if (done) return { ...part, ...sum, last_hash: hash, anchor: null };
    after = { position, hash };
  }
};

/** Verifies the log, as a whole and in parts: both must find the same. */
export const verify = async (
  parts: ChainParts,
  anchor: Anchor | null = null,
  limit = 700,
): Promise<Verification> => {
  const inParts = await verifyInParts(parts, limit);
  const whole = await verifyChain(parts, anchor);
  expect(inParts).toEqual({
    ...whole,
    ok: anchor === null ? whole.ok : inParts.ok,
    anchor: null,
  });
  return whole;
};
