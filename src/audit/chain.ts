import { advisoryLock, type Database } from '../database/index.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { sha256 } from '../lib/crypto.ts';
import type { Logger } from '../lib/log.ts';
import { Loop } from '../lib/loop.ts';
import { type AuditRow, findLastChained, listChainedAfter, listUnchained, updateChained } from './store.ts';

/** The hash before the first entry. */
const genesis = '0'.repeat(64);
const batch = 1_000;

/** Returns the hash of an entry: SHA-256 of the hash before it, its position and all its fields, in hex. */
const hashOf = (before: string, position: number, row: AuditRow): string => {
  const { hash: _hash, position: _position, ...fields } = row;
  return sha256(`${before}\n${position}\n${canonicalJson(fields)}`);
};

/** Adds entries to the chain, at most one batch. Returns whether there may be more. */
const chainOnce = (db: Database): Promise<boolean> =>
  db.tx(async (tx) => {
    // One replica at a time. Another one waits, and then finds nothing left.
    await advisoryLock(tx, 'audit chain');
    const last = await findLastChained(tx);
    let { position, hash } = last ?? { position: 0, hash: genesis };
    const rows = await listUnchained(tx, batch);
    const links = rows.map((row) => {
      hash = hashOf(hash, ++position, row);
      return { id: row.id, position, hash };
    });
    if (links.length > 0) await updateChained(tx, links);
    return rows.length === batch;
  });

/** Makes the loop that adds new entries to the chain within a second. */
export const chainLoop = (db: Database, log: Logger): Loop =>
  new Loop({
    name: 'audit chain',
    log,
    tick: async () => ((await chainOnce(db)) ? 0 : 500),
  });

export interface Verification {
  ok: boolean;
  /** The number of correct entries from the start of the chain. */
  checked: number;
  /** The first position whose entry was changed, is missing or is out of order; null if there is none. */
  broken_at: number | null;
  last_hash: string;
}

/** Computes the whole chain again, and compares. */
export const verifyChain = async (db: Database): Promise<Verification> => {
  let position = 0;
  let hash = genesis;
  for (;;) {
    const rows = await db.run((executor) => listChainedAfter(executor, position, batch));
    for (const row of rows) {
      const expected = hashOf(hash, position + 1, row);
      if (row.position !== position + 1 || row.hash !== expected) {
        return { ok: false, checked: position, broken_at: position + 1, last_hash: hash };
      }
      position++;
      hash = expected;
    }
    if (rows.length < batch) return { ok: true, checked: position, broken_at: null, last_hash: hash };
  }
};
