import { advisoryLock, databaseNow } from '../database/index.ts';
import type { Retention } from '../feature.ts';
import { systemActor } from '../lib/principal.ts';
import type { ChainParts } from './chain.ts';
import {
  type CheckpointRow,
  deleteCheckpointsUpTo,
  findRetentionCheckpoint,
  listCheckpoints,
} from './checkpoint-store.ts';
import { insertSigned } from './checkpoints.ts';
import { audit } from './entries.ts';
import { type AuditRow, deleteChainedUpTo, findLastChained, listChainedAfter } from './store.ts';
import { Walk } from './walk.ts';

const day = 86_400_000;

/** The entries at the start of `rows` that are older than `cutoff`, but not the one at `last`. */
const oldestOf = (rows: readonly AuditRow[], cutoff: number, last: number): AuditRow[] => {
  const kept = rows.findIndex((row) => row.at.getTime() >= cutoff || row.position === last);
  return kept === -1 ? [...rows] : rows.slice(0, kept);
};

/**
 * Makes the retention of the audit log. It removes entries only from the start of the chain, never the last one, and
 * only while they verify: otherwise someone who can write the database could make entries look old, and have the
 * evidence removed. A signed checkpoint takes their place, and an entry says how many were removed, up to which position.
 */
export const auditRetention =
  ({ vault, log }: Pick<ChainParts, 'vault' | 'log'>): Retention =>
  async (tx, { AUDIT_RETENTION_DAYS: days }, limit) => {
    if (days === 0) return 0;
    await advisoryLock(tx, 'audit chain');
    const start: CheckpointRow | undefined = await findRetentionCheckpoint(tx);
    const cutoff = (await databaseNow(tx)) - days * day;
    const last = await findLastChained(tx);
    const rows = oldestOf(
      await listChainedAfter(tx, start?.position ?? 0, limit),
      cutoff,
      last?.position ?? 0,
    );
    const position = rows.at(-1)?.position ?? null;
    if (position === null) return 0;

    const checkpoints = await listCheckpoints(tx, start?.position ?? 0, position, limit);
    const walk = new Walk(vault, start);
    walk.take(rows, checkpoints);
    if (walk.fault !== null) {
      log.error(
        { fault: walk.fault },
        'retention removes nothing of the audit log, because it does not verify',
      );
      return 0;
    }
    const number = checkpoints.at(-1)?.number ?? start?.number ?? 0;
    await insertSigned(tx, vault, { kind: 'retention', number, position, hash: walk.hash });
    await deleteChainedUpTo(tx, position);
    await deleteCheckpointsUpTo(tx, position);
    await audit(tx, systemActor, 'audit.retention', null, {
      removed: rows.length,
      position,
      hash: walk.hash,
    });
    return rows.length;
  };
