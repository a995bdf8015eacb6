import { type Executor, sql, type Table, type Tx } from '../database/index.ts';

export interface CheckpointRow {
  /** `interval`: made while the chain grows. `retention`: at the last entry that retention removed. */
  kind: 'interval' | 'retention';
  /**
   * Those of kind `interval` count from 1 without a gap. That of kind `retention` has the number of the last one of kind
   * `interval` up to its position, 0 if there was none.
   */
  number: number;
  position: number;
  hash: string;
  at: Date;
  /** The key of the vault that made `signature` (base64). */
  key_id: string;
  signature: string;
}

declare module '../database/database.ts' {
  interface Schema {
    audit_checkpoints: Table<CheckpointRow>;
    audit_copy: Table<{ singleton: boolean; position: number }, 'singleton'>;
  }
}

const columns = ['kind', 'number', 'position', 'hash', 'at', 'key_id', 'signature'] as const;

export const insertCheckpoint = async (tx: Tx, row: CheckpointRow): Promise<void> => {
  await tx.insertInto('audit_checkpoints').values(row).execute();
};

/** The checkpoint of the greatest number; that of retention only if no other one is left. */
export const findNewestCheckpoint = (executor: Executor): Promise<CheckpointRow | undefined> =>
  executor
    .selectFrom('audit_checkpoints')
    .select(columns)
    .orderBy('number', 'desc')
    .orderBy('kind')
    .limit(1)
    .executeTakeFirst();

/** The checkpoint at the last entry that retention removed. */
export const findRetentionCheckpoint = (executor: Executor): Promise<CheckpointRow | undefined> =>
  executor
    .selectFrom('audit_checkpoints')
    .select(columns)
    .where('kind', '=', 'retention')
    .orderBy('position', 'desc')
    .limit(1)
    .executeTakeFirst();

/** The checkpoints of kind `interval` with after < position ≤ to, in the order of their positions. */
export const listCheckpoints = (
  executor: Executor,
  after: number,
  to: number,
  limit: number,
): Promise<CheckpointRow[]> =>
  executor
    .selectFrom('audit_checkpoints')
    .select(columns)
    .where('kind', '=', 'interval')
    .where('position', '>', after)
    .where('position', '<=', to)
    .orderBy('position')
    .limit(limit)
    .execute();

/** The last checkpoint of kind `interval` that is not after `position`. */
export const findCheckpointUpTo = (
  executor: Executor,
  position: number,
): Promise<CheckpointRow | undefined> =>
  executor
    .selectFrom('audit_checkpoints')
    .select(columns)
    .where('kind', '=', 'interval')
    .where('position', '<=', position)
    .orderBy('position', 'desc')
    .limit(1)
    .executeTakeFirst();

/**
 * Resolves to whether an hour has passed since `since` or, if that is null, since the entry at `position` was written;
 * false if there is no such entry.
 */
export const hourHasPassed = async (executor: Executor, since: Date | null, position: number) => {
  const { rows } = await sql<{ passed: boolean | null }>`
    select coalesce(${since}::timestamptz, (select at from audits where position = ${position}))
      <= platform_now() - interval '1 hour' as passed`.execute(executor);
  return rows[0]!.passed ?? false;
};

/** The checkpoints whose signature is not of the key `keyId`, of any kind, after `(position, kind)` in that order. */
export const listSignedByOthers = (
  executor: Executor,
  keyId: string,
  after: Pick<CheckpointRow, 'position' | 'kind'>,
  limit: number,
): Promise<CheckpointRow[]> =>
  executor
    .selectFrom('audit_checkpoints')
    .select(columns)
    .where('key_id', '<>', keyId)
    .where(sql<boolean>`(position, kind) > (${after.position}::bigint, ${after.kind}::text)`)
    .orderBy('position')
    .orderBy('kind')
    .limit(limit)
    .execute();

/** Puts the signatures of `rows` in the place of those that the same checkpoints have. */
export const updateSignatures = async (tx: Tx, rows: readonly CheckpointRow[]): Promise<void> => {
  await sql`update audit_checkpoints c set key_id = again.key_id, signature = again.signature
    from unnest(${rows.map((row) => row.kind)}::text[], ${rows.map((row) => row.position)}::bigint[],
      ${rows.map((row) => row.key_id)}::text[], ${rows.map((row) => row.signature)}::text[])
      as again(kind, position, key_id, signature)
    where c.kind = again.kind and c.position = again.position`.execute(tx);
};

/** Deletes the checkpoints that the one of kind `retention` at `position` replaces. */
export const deleteCheckpointsUpTo = async (tx: Tx, position: number): Promise<void> => {
  await sql`delete from audit_checkpoints
    where (kind = 'interval' and position <= ${position}) or (kind = 'retention' and position < ${position})`.execute(
    tx,
  );
};

/** Locks the row that says how far the chain was copied, and returns it; undefined if another replica has the lock. */
export const lockCopied = (tx: Tx): Promise<{ position: number } | undefined> =>
  tx.selectFrom('audit_copy').select('position').forUpdate().skipLocked().executeTakeFirst();

export const updateCopied = async (tx: Tx, position: number): Promise<void> => {
  await tx.updateTable('audit_copy').set({ position }).execute();
};
