import type { ChainParts } from './chain.ts';
import { type CheckpointRow, findCheckpointUpTo, findRetentionCheckpoint } from './checkpoint-store.ts';
import { checkpointInterval } from './checkpoints.ts';
import { deleteFaultWithin, recordFault } from './faults.ts';
import { countWithContext, findExtent } from './store.ts';
import { type Anchor, compareAnchor, holdsWith, type Verification, walkUndisturbed } from './verify.ts';
import { Walk } from './walk.ts';

/** The result of the verification of a part of the chain. */
export interface PartVerification extends Omit<Verification, 'last_hash'> {
  /** The last entry that was found right, and its hash: where the next part begins. */
  position: number;
  hash: string;
  /** True if there is no next part: the chain ends here, or is broken. */
  done: boolean;
}

/** The walk that goes on after an entry that was found right. */
const walkAfter = async (
  { db, vault }: ChainParts,
  start: CheckpointRow | undefined,
  { position, hash }: Anchor,
): Promise<Walk> => {
  if (start?.position === position) return new Walk(vault, start);
  const last = (await db.run((executor) => findCheckpointUpTo(executor, position))) ?? start;
  if (last && last.number > 0) {
    return Walk.from(vault, { position, hash, number: last.number, uncovered: position - last.position });
  }
  const uncovered = await db.run((executor) => countWithContext(executor, position, checkpointInterval + 1));
  return Walk.from(vault, { position, hash, number: 0, uncovered });
};

/**
 * As `verifyChain`, but at most `limit` entries after the one that `after` names (null: from the start), so that a long
 * log is verified with progress: each part begins where the one before ended. The parts together find what one
 * verification of the whole would.
 */
export const verifyPart = async (
  parts: ChainParts,
  after: Anchor | null,
  limit: number,
): Promise<PartVerification> => {
  const { db, vault } = parts;
  const compare = (start: CheckpointRow | undefined) => after && compareAnchor(db, start, after);
  const anchor = await compare(await db.run(findRetentionCheckpoint));
  if (after && !holdsWith(anchor)) {
    const extent = await db.run(findExtent);
    return {
      ok: false,
      checked: 0,
      broken_at: null,
      ...after,
      done: true,
      ...extent,
      checkpoints_checked: 0,
      anchor,
    };
  }
  let from = 0;
  const begin = async (start: CheckpointRow | undefined): Promise<Walk> => {
    // Retention may have passed it in the meantime.
    const goesOn = after !== null && (await compare(start)) === 'matches';
    const walk = goesOn ? await walkAfter(parts, start, after) : new Walk(vault, start);
    from = walk.position;
    return walk;
  };
  const { walk, ended } = await walkUndisturbed(parts, begin, limit);
  if (walk.fault !== null) await recordFault(parts, walk.brokenAt, walk.fault);
  else await db.run((executor) => deleteFaultWithin(executor, from, ended ? null : walk.position));
  return {
    ok: walk.fault === null,
    checked: walk.checked,
    broken_at: walk.brokenAt,
    position: walk.position,
    hash: walk.hash,
    done: ended,
    ...(await db.run(findExtent)),
    checkpoints_checked: walk.checkpointsChecked,
    anchor,
  };
};
