import { advisoryLock, type Database } from '../database/index.ts';
import type { FeatureLoop } from '../feature.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { sha256, type Vault } from '../lib/crypto.ts';
import type { Logger } from '../lib/log.ts';
import { Loop } from '../lib/loop.ts';
import { findNewestCheckpoint } from './checkpoint-store.ts';
import { checkpointInterval, signNext, type Witness } from './checkpoints.ts';
import { ownWrites } from './entries.ts';
import { recordFault } from './faults.ts';
import { type AuditRow, findLastChained, listUnchained, updateChained } from './store.ts';

/** The hash before the first entry. */
export const genesis = '0'.repeat(64);

/** Returns the hash of an entry: SHA-256 of the hash before it, its position and all its fields, in hex. */
export const hashOf = (before: string, position: number, row: AuditRow): string => {
  const { hash: _hash, position: _position, ...fields } = row;
  return sha256(`${before}\n${position}\n${canonicalJson(fields)}`);
};

export interface ChainParts {
  db: Database;
  vault: Vault;
  log: Logger;
  witness: Witness;
}

/**
 * Adds entries to the chain, at most as many as lie between two checkpoints, and signs the checkpoint that is due.
 * Resolves to how many entries it added, and whether the newest checkpoint that this process has seen is still there. If
 * not, none is signed: it would sign what someone may have rewritten.
 */
export const chainOnce = async ({
  db,
  vault,
  witness,
}: Omit<ChainParts, 'log'>): Promise<{ added: number; holds: boolean }> => {
  const { added, holds, newest } = await db.tx(async (tx) => {
    // One replica at a time. Another one waits, and then finds nothing left.
    await advisoryLock(tx, 'audit chain');
    const last = await findLastChained(tx);
    let { position, hash } = last ?? { position: 0, hash: genesis };
    const rows = await listUnchained(tx, checkpointInterval);
    const links = rows.map((row) => {
      hash = hashOf(hash, ++position, row);
      return { id: row.id, position, hash };
    });
    if (links.length > 0) await updateChained(tx, links);
    const { newest, holds } = await witness.look(() => findNewestCheckpoint(tx));
    return {
      added: links.length,
      holds,
      newest: holds ? await signNext(tx, vault, newest, position) : undefined,
    };
  });
  witness.saw(newest);
  return { added, holds };
};

/** The pause while entries are written, in milliseconds. */
const everyMs = 500;
/** The pause while this replica writes none: what others wrote before they were killed waits for so long. */
const idleEveryMs = 30_000;
/** No transaction takes longer from its entry to its commit. */
const longestTransactionMs = 60_000;

/** Makes the loop that adds new entries to the chain within a second. `onChained` is called when it has added some. */
export const chainLoop = (parts: ChainParts, onChained: () => void = () => {}): FeatureLoop => {
  let held = true;
  let isIdle = false;
  const wake = (): void => {
    if (isIdle) loop.wake();
    isIdle = false;
  };
  const loop = new Loop({
    name: 'audit chain',
    log: parts.log,
    tick: async () => {
      const { added, holds } = await chainOnce(parts);
      if (held && !holds) {
        const fault = 'the newest checkpoint is gone: none is signed until a restart';
        await recordFault(parts, null, fault);
      }
      held = holds;
      if (added > 0) onChained();
      if (added === checkpointInterval) return 0;
      isIdle = ownWrites.idleMs() > longestTransactionMs;
      return isIdle ? idleEveryMs : everyMs;
    },
  });
  return {
    start: () => {
      ownWrites.onWrite(wake);
      loop.start();
    },
    stop: async () => {
      ownWrites.off(wake);
      await loop.stop();
    },
    pass: () => loop.pass(),
  };
};
