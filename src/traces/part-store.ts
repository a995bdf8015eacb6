import { advisoryLock, type Executor, sql, type Tx } from '../database/index.ts';

/** A part: a partition of `traces` and one of `trace_blocks`. */
export interface Part {
  id: number;
  /** When the next part began; null for the one that is written to. */
  ended_at: Date | null;
  /** How long ago it began, and ended, in milliseconds. */
  age_ms: number;
  ended_ms: number | null;
  /** Bytes on disk, with indexes. */
  bytes: number;
  isEmpty: boolean;
}

/** The tables of a part. */
const tablesOf = (id: number): [traces: string, blocks: string] => [`traces_${id}`, `trace_blocks_${id}`];

/** Returns the part that is written to; undefined if there is none yet. */
export const findOpenPart = async (executor: Executor): Promise<number | undefined> => {
  const { rows } = await sql<{ id: number }>`select id from trace_parts where ended_at is null`.execute(
    executor,
  );
  return rows[0]?.id;
};

/** All parts, oldest first. */
export const listParts = async (executor: Executor): Promise<Part[]> => {
  const { rows } = await sql<Part>`select id, ended_at,
      (extract(epoch from platform_now() - began_at) * 1000)::float8 as age_ms,
      (extract(epoch from platform_now() - ended_at) * 1000)::float8 as ended_ms,
      coalesce(pg_total_relation_size(to_regclass('traces_' || id)), 0)
        + coalesce(pg_total_relation_size(to_regclass('trace_blocks_' || id)), 0) as bytes,
      not exists (select from trace_blocks b where b.part = p.id) as "isEmpty"
    from trace_parts p order by id`.execute(executor);
  return rows;
};

/** One replica at a time adds and drops parts. A part that is read at present is left alone rather than waited for. */
export const lockParts = async (tx: Tx): Promise<void> => {
  await sql`set local lock_timeout = '2s'`.execute(tx);
  await advisoryLock(tx, 'trace parts');
};

/**
 * Begins a new part, unless the open one is not `expected` any more. The tables are attached when they are complete:
 * that lets others read and write all the time. Call it with the lock of the parts. Returns the open part.
 */
export const beginPart = async (tx: Tx, expected: number | undefined): Promise<number> => {
  const open = await findOpenPart(tx);
  if (open !== undefined && open !== expected) return open;
  await sql`update trace_parts set ended_at = platform_now() where ended_at is null`.execute(tx);
  const { rows } = await sql<{ id: number }>`insert into trace_parts default values returning id`.execute(tx);
  const { id } = rows[0]!;
  for (const [i, name] of tablesOf(id).entries()) {
    const [table, parent] = [sql.table(name), sql.table(i === 0 ? 'traces' : 'trace_blocks')];
    const check = sql.id(`${name}_part`);
    await sql`create table ${table} (like ${parent} including all,
      constraint ${check} check (part = ${sql.lit(id)}))`.execute(tx);
    await sql`alter table ${parent} attach partition ${table} for values in (${sql.lit(id)})`.execute(tx);
  }
  return id;
};

/**
 * Drops an ended part and counts its spans as expired. Call it with the lock of the parts. It waits for those who read
 * or write the part; the others wait for it in the meantime, for 2 s at most. Returns the number of spans.
 */
export const dropPart = async (tx: Tx, id: number): Promise<number> => {
  const [traces, blocks] = tablesOf(id).map((name) => sql.table(name)) as [
    ReturnType<typeof sql.table>,
    ReturnType<typeof sql.table>,
  ];
  await sql`lock table ${traces}, ${blocks} in access exclusive mode`.execute(tx);
  const { rows } = await sql<{ spans: number }>`with dropped as (
      select coalesce(sum(spans), 0)::bigint as spans from ${blocks})
    update trace_expiry set spans = trace_expiry.spans + dropped.spans from dropped
    returning dropped.spans as spans`.execute(tx);
  await sql`drop table ${traces}, ${blocks}`.execute(tx);
  await sql`delete from trace_parts where id = ${id}`.execute(tx);
  return rows[0]!.spans;
};

/** Bytes of all parts, spans that were stored and are gone, and when the oldest block was stored. */
export const readStoreState = async (
  executor: Executor,
): Promise<{ bytes: number; expired: number; oldest_at: Date | null }> => {
  const parts = await listParts(executor);
  const { rows } = await sql<{ expired: number; oldest_at: Date | null }>`select spans as expired,
      (select stored_at from trace_blocks order by part, id limit 1) as oldest_at
    from trace_expiry`.execute(executor);
  return { ...rows[0]!, bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0) };
};
