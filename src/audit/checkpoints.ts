import { type Database, databaseNow, type Tx } from '../database/index.ts';
import type { Vault } from '../lib/crypto.ts';
import {
  type CheckpointRow,
  hourHasPassed,
  insertCheckpoint,
  listSignedByOthers,
  updateSignatures,
} from './checkpoint-store.ts';
import { findChainedHash } from './store.ts';

/** The most entries between a checkpoint and the next one. */
export const checkpointInterval = 1_000;

type Checkpoint = Omit<CheckpointRow, 'key_id' | 'signature'>;

/** The text that is signed: JSON with its keys in this order. A later version gets another `type`. */
export const signedText = ({ kind, number, position, hash, at }: Checkpoint): string =>
  JSON.stringify({
    type: 'agent-platform audit checkpoint v1',
    kind,
    number,
    position,
    hash,
    at: at.toISOString(),
  });

/** Returns whether the signature is right and of a key that the vault has. */
export const isSigned = (vault: Vault, row: CheckpointRow): boolean =>
  vault.verify(row.key_id, signedText(row), row.signature);

const signed = (vault: Vault, checkpoint: Checkpoint): CheckpointRow => ({
  ...checkpoint,
  key_id: vault.keyId,
  signature: vault.sign(signedText(checkpoint)),
});

/** Signs a checkpoint and stores it. Call it under the lock `audit chain`. */
export const insertSigned = async (
  tx: Tx,
  vault: Vault,
  checkpoint: Omit<Checkpoint, 'at'>,
): Promise<CheckpointRow> => {
  const row = signed(vault, { ...checkpoint, at: new Date(await databaseNow(tx)) });
  await insertCheckpoint(tx, row);
  return row;
};

/**
 * Returns the position of the checkpoint that is due when the chain ends at `end`; null if none is. A run of more than
 * two intervals without one is an old chain, or someone deleted checkpoints: then the positions in between stay without
 * one, so that the verification finds the gap.
 */
const dueAt = async (tx: Tx, newest: CheckpointRow | undefined, end: number): Promise<number | null> => {
  const covered = newest?.position ?? 0;
  const since = end - covered;
  if (since <= 0) return null;
  if (since >= checkpointInterval) {
    return since < 2 * checkpointInterval ? covered + checkpointInterval : end;
  }
  return (await hourHasPassed(tx, newest?.at ?? null, covered + 1)) ? end : null;
};

/**
 * Signs the next checkpoint if one is due, in the transaction that made the chain end at `end`. Resolves to the newest
 * checkpoint.
 */
export const signNext = async (
  tx: Tx,
  vault: Vault,
  newest: CheckpointRow | undefined,
  end: number,
): Promise<CheckpointRow | undefined> => {
  const position = await dueAt(tx, newest, end);
  const hash = position === null ? undefined : await findChainedHash(tx, position);
  if (position === null || hash === undefined) return newest;
  return insertSigned(tx, vault, { kind: 'interval', number: (newest?.number ?? 0) + 1, position, hash });
};

/**
 * The newest checkpoint that this process has seen. It proves that one is gone, for as long as the process runs, even if
 * its deletion left no gap.
 */
export class Witness {
  #seen: CheckpointRow | undefined;

  /** Resolves to the newest checkpoint, and whether it is as new as the newest one seen before. */
  async look(
    find: () => Promise<CheckpointRow | undefined>,
  ): Promise<{ newest: CheckpointRow | undefined; holds: boolean }> {
    // Before the query: what another look sees in the meantime may be newer than its result.
    const seen = this.#seen;
    const newest = await find();
    const holds =
      !seen ||
      (newest !== undefined &&
        (newest.number > seen.number ||
          (newest.number === seen.number &&
            (newest.kind === 'retention' || signedText(newest) === signedText(seen)))));
    return { newest, holds };
  }

  /** Call it when the checkpoint is committed. */
  saw(newest: CheckpointRow | undefined): void {
    if (newest && newest.number >= (this.#seen?.number ?? 0)) this.#seen = newest;
  }
}

const batch = 1_000;

/**
 * Signs every checkpoint of an older key again with the first one, so that the older key can be dropped. A checkpoint
 * that does not verify stays as it is: the verification of the log reports it.
 */
export const signAgain = async (db: Database, vault: Vault): Promise<void> => {
  let after: Pick<CheckpointRow, 'position' | 'kind'> = { position: -1, kind: 'interval' };
  for (let more = true; more; ) {
    const rows = await db.tx(async (tx) => {
      const others = await listSignedByOthers(tx, vault.keyId, after, batch);
      const genuine = others.filter((row) => isSigned(vault, row));
      if (genuine.length > 0)
        await updateSignatures(
          tx,
          genuine.map((row) => signed(vault, row)),
        );
      return others;
    });
    after = rows.at(-1) ?? after;
    more = rows.length === batch;
  }
};
