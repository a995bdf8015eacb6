import { type Executor, type Json, json, sql, type Table, type Tx } from '../database/index.ts';

export interface AuditRow {
  id: string;
  at: Date;
  principal_kind: string;
  principal_id: string;
  principal_name: string;
  action: string;
  target_type: string;
  target_id: string | null;
  outcome: 'done' | 'refused';
  details: unknown;
  request_id: string | null;
  position: number | null;
  hash: string | null;
}

declare module '../database/database.ts' {
  interface Schema {
    audits: Table<Omit<AuditRow, 'details'> & { details: Json<unknown> }, 'at' | 'position' | 'hash'>;
  }
}

/**
 * Listed, because a named statement with `*` fails after a migration that adds a column, and because the hash covers
 * these.
 */
export const auditColumns = [
  'id',
  'at',
  'principal_kind',
  'principal_id',
  'principal_name',
  'action',
  'target_type',
  'target_id',
  'outcome',
  'details',
  'request_id',
  'position',
  'hash',
] as const;

/** The positions of the first and the last entry of the chain, null if it is empty, and how many are not in it yet. */
export const findExtent = async (
  executor: Executor,
): Promise<{ first_position: number | null; last_position: number | null; unchained: number }> => {
  const { rows } = await sql<{
    first_position: number | null;
    last_position: number | null;
    unchained: number;
  }>`select (select min(position) from audits) as first_position, (select max(position) from audits) as last_position,
    (select count(*) from audits where position is null) as unchained`.execute(executor);
  return rows[0]!;
};

/** Returns whether an action on this target was audited within the last `hours`, with these `details` among others. */
export const findAuditedSince = async (
  executor: Executor,
  action: string,
  targetId: string,
  details: Record<string, unknown>,
  hours: number,
): Promise<boolean> => {
  const { rows } = await sql`select from audits where target_id = ${targetId} and action = ${action}
    and details @> ${json(details)}::jsonb and at > platform_now() - make_interval(hours => ${hours}) limit 1`.execute(
    executor,
  );
  return rows.length > 0;
};

/** The hash of the entry at `position`; undefined if there is none. */
export const findChainedHash = async (executor: Executor, position: number): Promise<string | undefined> => {
  const row = await executor
    .selectFrom('audits')
    .select('hash')
    .where('position', '=', position)
    .executeTakeFirst();
  return row?.hash ?? undefined;
};

/**
 * Resolves to how many of the last `limit` entries up to `position` have a context, which older releases did not write.
 */
export const countWithContext = async (
  executor: Executor,
  position: number,
  limit: number,
): Promise<number> => {
  const { rows } = await sql<{ n: number }>`select count(*)::integer as n from (
    select details -> 'context' as context from audits where position <= ${position}
    order by position desc limit ${limit}) entry where context is not null`.execute(executor);
  return rows[0]!.n;
};

/** Deletes the entries up to `position`. The database refuses it without a checkpoint of kind `retention` there. */
export const deleteChainedUpTo = async (tx: Tx, position: number): Promise<void> => {
  await tx.deleteFrom('audits').where('position', '<=', position).execute();
};

/** The last entry of the chain; null if the chain is empty. */
export const findLastChained = async (
  executor: Executor,
): Promise<{ position: number; hash: string } | null> => {
  const row = await executor
    .selectFrom('audits')
    .select(['position', 'hash'])
    .where('position', 'is not', null)
    .orderBy('position', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ? { position: row.position!, hash: row.hash! } : null;
};

/** The oldest entries that are not in the chain yet. */
export const listUnchained = (tx: Tx, limit: number): Promise<AuditRow[]> =>
  tx
    .selectFrom('audits')
    .select(auditColumns)
    .where('position', 'is', null)
    .orderBy('id')
    .limit(limit)
    .execute();

/** Puts entries into the chain. */
export const updateChained = async (
  tx: Tx,
  links: { id: string; position: number; hash: string }[],
): Promise<void> => {
  await sql`update audits set position = link.position, hash = link.hash
    from unnest(${links.map((l) => l.id)}::uuid[], ${links.map((l) => l.position)}::bigint[], ${links.map((l) => l.hash)}::text[])
      as link(id, position, hash)
    where audits.id = link.id`.execute(tx);
};

/** The entries of the chain after `position`, in its order. */
export const listChainedAfter = (executor: Executor, position: number, limit: number): Promise<AuditRow[]> =>
  executor
    .selectFrom('audits')
    .select(auditColumns)
    .where('position', '>', position)
    .orderBy('position')
    .limit(limit)
    .execute();
