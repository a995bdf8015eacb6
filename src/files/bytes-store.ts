import { type Executor, sql, type Tx } from '../database/index.ts';

export const insertBytes = async (
  executor: Executor,
  id: string,
  part: number,
  bytes: Buffer,
): Promise<void> => {
  await sql`insert into file_bytes (file_id, part, bytes) values (${id}, ${part}, ${bytes})`.execute(
    executor,
  );
};

/** One part of the bytes; undefined after the last. */
export const findBytes = async (
  executor: Executor,
  id: string,
  part: number,
): Promise<Buffer | undefined> => {
  const { rows } = await sql<{ bytes: Buffer }>`
    select bytes from file_bytes where file_id = ${id} and part = ${part}`.execute(executor);
  return rows[0]?.bytes;
};

export const deleteBytes = async (executor: Executor, ids: readonly string[]): Promise<void> => {
  if (ids.length === 0) return;
  await sql`delete from file_bytes where file_id = any(${ids}::uuid[])`.execute(executor);
};

/** Returns those of the ids that a file or data frame has. */
export const listReferred = async (executor: Executor, ids: readonly string[]): Promise<Set<string>> => {
  const { rows } = await sql<{ id: string }>`
    select id from kept_bytes where id = any(${ids}::uuid[])`.execute(executor);
  return new Set(rows.map(({ id }) => id));
};

/**
 * Marks up to `limit` bytes as removed that nothing refers to and that no one is about to: those of a replica that died
 * before it wrote their row, which happens at most minutes after the bytes. Returns how many.
 */
export const markOrphans = async (tx: Tx, limit: number): Promise<number> => {
  const { rows } = await sql`
    insert into removed_files (id)
    select file_id from file_bytes b where part = 0 and created_at < platform_now() - interval '1 hour'
      and not exists (select from kept_bytes k where k.id = b.file_id)
      and not exists (select from removed_files r where r.id = b.file_id) limit ${limit}
    on conflict do nothing returning id`.execute(tx);
  return rows.length;
};

/** Up to `limit` files that were deleted and whose bytes are still there. */
export const listRemoved = async (executor: Executor, limit: number): Promise<string[]> => {
  const { rows } = await sql<{ id: string }>`
    select id from removed_files order by removed_at limit ${limit}`.execute(executor);
  return rows.map(({ id }) => id);
};

export const deleteRemoved = async (executor: Executor, ids: readonly string[]): Promise<void> => {
  await sql`delete from removed_files where id = any(${ids}::uuid[])`.execute(executor);
};
