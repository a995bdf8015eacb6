import type { Database } from '../database/index.ts';
import type { ChainParts } from './chain.ts';
import {
  type CheckpointRow,
  findNewestCheckpoint,
  findRetentionCheckpoint,
  listCheckpoints,
} from './checkpoint-store.ts';
import { deleteFault, recordFault } from './faults.ts';
import { findChainedHash, findExtent, listChainedAfter } from './store.ts';
import { Walk } from './walk.ts';

/** A position of the chain and the hash that its entry has, as someone noted them. */
export interface Anchor {
  position: number;
  hash: string;
}

type AnchorResult = 'matches' | 'differs' | 'beyond_end' | 'before_retention';

export interface Verification {
  /** True if the chain, every checkpoint and the anchor hold. */
  ok: boolean;
  /** The number of correct entries from the start of the chain. */
  checked: number;
  /** The first position whose entry was changed, is missing or is out of order; null if there is none. */
  broken_at: number | null;
  last_hash: string;
  /** The positions of the first and the last entry of the chain; null if it is empty. */
  first_position: number | null;
  last_position: number | null;
  /** The number of entries that are not in the chain yet. */
  unchained: number;
  checkpoints_checked: number;
  anchor: AnchorResult | null;
}

/** The number of entries that are in memory at a time. */
const batch = 1_000;

/** Walks on for at most `most` entries. Resolves to whether the end of the chain was reached, or a wrong entry. */
const walkOn = async (db: Database, walk: Walk, most: number): Promise<boolean> => {
  while (walk.brokenAt === null) {
    if (walk.checked >= most) return false;
    const limit = Math.min(batch, most - walk.checked);
    // The entries first: the checkpoints that were committed with them are then there too.
    const rows = await db.run((executor) => listChainedAfter(executor, walk.position, limit));
    const to = rows.at(-1)?.position ?? Number.MAX_SAFE_INTEGER;
    const checkpoints = await db.run((executor) => listCheckpoints(executor, walk.position, to, batch));
    if (rows.length > 0) {
      walk.take(rows, checkpoints);
      continue;
    }
    if (checkpoints.length === 0) break;
    // A checkpoint beyond the end: its entry was just added, or was cut off.
    const added = await db.run((executor) => listChainedAfter(executor, walk.position, 1));
    if (added.length === 0) {
      walk.fail(
        `the chain ends before the checkpoint at position ${checkpoints[0]!.position}`,
        walk.position + 1,
      );
    }
  }
  return true;
};

export const compareAnchor = async (
  db: Database,
  start: CheckpointRow | undefined,
  { position, hash }: Anchor,
): Promise<AnchorResult> => {
  if (start && position < start.position) return 'before_retention';
  const found =
    start?.position === position
      ? start.hash
      : await db.run((executor) => findChainedHash(executor, position));
  if (found !== undefined) return found === hash ? 'matches' : 'differs';
  const { last_position } = await db.run(findExtent);
  return position > (last_position ?? 0) ? 'beyond_end' : 'differs';
};

/** The most walks of a log that seems wrong: retention or a new checkpoint may come between two reads. */
const attempts = 5;

interface Walked {
  walk: Walk;
  /** The checkpoint at the last entry that retention removed. */
  start: CheckpointRow | undefined;
  /** True if the walk came to the end of the chain, or to a wrong entry. */
  ended: boolean;
}

/** Makes walks of at most `most` entries until one of them was not disturbed. `begin` makes each of them. */
export const walkUndisturbed = async (
  { db, witness }: ChainParts,
  begin: (start: CheckpointRow | undefined) => Promise<Walk>,
  most: number,
): Promise<Walked> => {
  for (let attempt = 1; ; attempt++) {
    const start = await db.run(findRetentionCheckpoint);
    const { newest, holds } = await witness.look(() => db.run(findNewestCheckpoint));
    const walk = await begin(start);
    const ended = await walkOn(db, walk, most);
    if (!holds) walk.fail('the newest checkpoint was deleted or replaced');
    if (walk.fault === null || attempt === attempts) return { walk, start, ended };
    const [startNow, newestNow] = [await db.run(findRetentionCheckpoint), await db.run(findNewestCheckpoint)];
    if (startNow?.position === start?.position && newestNow?.number === newest?.number) {
      return { walk, start, ended };
    }
  }
};

/** Returns whether the anchor says nothing against the log. */
export const holdsWith = (anchor: AnchorResult | null): boolean =>
  anchor === null || anchor === 'matches' || anchor === 'before_retention';

/**
 * Computes the whole chain again and compares: entries with their hashes, the chain with its checkpoints, the newest
 * checkpoint with the newest one that this process has seen, and the chain with `anchor`. It holds no transaction and
 * 1,000 entries at a time. What it finds wrong is stored, until it is found right.
 *
 * Someone who can write the database, but does not have the encryption key, can do this unseen:
 * - change entries before they are in the chain (within a second), and those after the newest checkpoint (at most 1,000
 *   entries or an hour);
 * - take the log back to an earlier state, by cutting off its end together with the checkpoints there and restarting
 *   every replica, as restoring a backup does;
 * - delete every checkpoint and make the whole log look like one of a release before checkpoints.
 *
 * Only a copy outside the database reveals these: an anchor that was noted (`position` and `hash`), an export, or the
 * lines of AUDIT_TO_LOG.
 */
export const verifyChain = async (parts: ChainParts, anchor: Anchor | null = null): Promise<Verification> => {
  const { db, vault } = parts;
  const begin = async (start: CheckpointRow | undefined) => new Walk(vault, start);
  const { walk, start } = await walkUndisturbed(parts, begin, Number.POSITIVE_INFINITY);
  const compared = anchor && (await compareAnchor(db, start, anchor));
  if (walk.fault === null) await db.run(deleteFault);
  else await recordFault(parts, walk.brokenAt, walk.fault);
  return {
    ok: walk.fault === null && holdsWith(compared),
    checked: walk.checked,
    broken_at: walk.brokenAt,
    last_hash: walk.hash,
    ...(await db.run(findExtent)),
    checkpoints_checked: walk.checkpointsChecked,
    anchor: compared,
  };
};
