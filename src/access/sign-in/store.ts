import { sql, type Table, type Tx } from '../../database/index.ts';

declare module '../../database/database.ts' {
  interface Schema {
    used_once: Table<{ value_hash: string; expires_at: Date }>;
  }
}

/**
 * Remembers the SHA-256 of what may be used once, for `seconds`. Returns false if it was used before. A second use waits
 * for the transaction of the first.
 */
export const insertUsedOnce = async (tx: Tx, valueHash: string, seconds: number): Promise<boolean> => {
  const { rows } = await sql`insert into used_once (value_hash, expires_at)
    values (${valueHash}, platform_now() + make_interval(secs => ${seconds}))
    on conflict do nothing returning 1`.execute(tx);
  return rows.length > 0;
};

/** Deletes at most `limit` values that could not be used again anyway. Returns how many. */
export const deleteUsedOnce = async (tx: Tx, limit: number): Promise<number> => {
  const { numAffectedRows } = await sql`delete from used_once where value_hash in
    (select value_hash from used_once where expires_at <= platform_now() limit ${limit})`.execute(tx);
  return Number(numAffectedRows ?? 0n);
};
