import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { eachDatabase } from '../../tests/harness/database.ts';
import { sql } from '../database/index.ts';
import { Vault } from '../lib/crypto.ts';
import { silentLogger } from '../lib/log.ts';
import type { Principal } from '../lib/principal.ts';
import { chainLoop } from './chain.ts';
import { Witness } from './checkpoints.ts';
import { audit } from './entries.ts';
import { verifyChain } from './verify.ts';

const principal: Principal = {
  kind: 'service_account',
  id: 'k',
  rootId: 'k',
  name: 'K',
  role: 'admin',
  keyId: 'k',
  scopes: null,
  sessionId: null,
};

/** The documented hash, implemented again: anyone who can write the table can compute it. */
const hashOf = (before: string, { hash: _hash, position, ...fields }: Record<string, unknown>): string => {
  const sorted = (value: unknown): unknown =>
    value !== null && typeof value === 'object' && !(value instanceof Date)
      ? Object.fromEntries(
          Object.entries(value)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([key, inner]) => [key, sorted(inner)]),
        )
      : value;
  return createHash('sha256')
    .update(`${before}\n${position}\n${JSON.stringify(sorted(fields))}`)
    .digest('hex');
};

eachDatabase((_name, open) => {
  it('verifyChain finds an entry that was changed together with its own hash', async () => {
    const db = open();
    for (let n = 0; n < 5; n++) {
      await db.tx((tx) =>
        audit(tx, { principal, requestId: null, ip: null, userAgent: null }, 'a.b', null, {
          n,
          after: { b: 1, a: 2 },
        }),
      );
    }
    const parts = { db, vault: new Vault([Buffer.alloc(32)]), log: silentLogger, witness: new Witness() };
    const loop = chainLoop(parts);
    loop.start();
    let verified = await verifyChain(parts);
    while (verified.checked < 5) verified = await verifyChain(parts);
    await loop.stop();
    expect(verified).toMatchObject({ ok: true, checked: 5, broken_at: null });

    const rows = await db.run((r) => r.selectFrom('audits').selectAll().orderBy('position').execute());
    const forged = { ...rows[2]!, details: { n: 'forged' } };
    const hash = hashOf(rows[1]!.hash!, forged);
    expect(hashOf(rows[1]!.hash!, { ...rows[2]! })).toBe(rows[2]!.hash);
    await db.tx(async (tx) => {
      await sql`alter table audits disable trigger audits_append_only`.execute(tx);
      await sql`update audits set details = '{"n": "forged"}', hash = ${hash} where position = 3`.execute(tx);
      await sql`alter table audits enable trigger audits_append_only`.execute(tx);
    });
    expect(await verifyChain(parts)).toMatchObject({ ok: false, checked: 3, broken_at: 4 });
  });

  it('the database refuses to change or remove an entry', async () => {
    const db = open();
    await expect(db.run((r) => sql`update audits set action = 'x'`.execute(r))).rejects.toThrow(
      'append-only',
    );
    await expect(db.run((r) => sql`delete from audits`.execute(r))).rejects.toThrow('append-only');
  });
});
