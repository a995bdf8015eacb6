import { sql, type Tx } from '../database/index.ts';

/** The triggers that something is stored for and that were deleted: one step in the index for each. */
const deletedTriggers = (table: 'trigger_events' | 'trigger_dedup_keys' | 'trigger_event_counts') => {
  const from = sql.table(table);
  return sql`with recursive known as (
      (select trigger_id from ${from} order by trigger_id limit 1)
      union all
      select next.trigger_id from known k cross join lateral (
        select trigger_id from ${from} where trigger_id > k.trigger_id order by trigger_id limit 1) next
    )
    select k.trigger_id from known k where not exists (select from triggers t where t.id = k.trigger_id)`;
};

const affected = ({ numAffectedRows }: { numAffectedRows?: bigint | undefined }): number =>
  Number(numAffectedRows ?? 0);

/** Deletes at most `limit` events that came more than `days` ago (0: none), or whose trigger was deleted, with their bodies. */
export const deleteOldEvents = async (tx: Tx, days: number, limit: number): Promise<number> => {
  const old =
    days > 0
      ? sql`(select id from trigger_events where outcome <> 'pending'
          and at < platform_now() - ${days}::int * interval '1 day' order by at limit ${limit})`
      : sql`(select null::uuid as id where false)`;
  const result = await sql`with gone as (
      ${old} union
      (select id from trigger_events where trigger_id in (${deletedTriggers('trigger_events')}) limit ${limit})
      limit ${limit}
    ), bodies as (delete from trigger_event_bodies where id in (select id from gone))
    delete from trigger_events where id in (select id from gone)`.execute(tx);
  return affected(result);
};

/** Deletes at most `limit` bodies that came more than `hours` ago. */
export const deleteOldBodies = async (tx: Tx, hours: number, limit: number): Promise<number> =>
  affected(
    await sql`delete from trigger_event_bodies where id in (
      select id from trigger_event_bodies where at < platform_now() - ${hours}::int * interval '1 hour'
      order by at limit ${limit})`.execute(tx),
  );

/** The longest window of `dedup`, in days. */
const longestWindow = 30;

/**
 * Deletes at most `limit` keys that keep nothing away any more: no window is longer than 30 days, and without a window a
 * key holds as long as its event is kept. `days` is how long events are kept (0: always).
 */
export const deleteOldKeys = async (tx: Tx, days: number, limit: number): Promise<number> => {
  const old =
    days > 0
      ? sql`(select trigger_id, key from trigger_dedup_keys
          where at < platform_now() - ${Math.max(days, longestWindow)}::int * interval '1 day' order by at limit ${limit})`
      : sql`(select null::uuid as trigger_id, null::bytea as key where false)`;
  return affected(
    await sql`delete from trigger_dedup_keys where (trigger_id, key) in (
      ${old} union (select trigger_id, key from trigger_dedup_keys
        where trigger_id in (${deletedTriggers('trigger_dedup_keys')}) limit ${limit}) limit ${limit})`.execute(
      tx,
    ),
  );
};

/** Deletes at most `limit` counts of more than `days` ago (0: none), or of triggers that were deleted. */
export const deleteOldCounts = async (tx: Tx, days: number, limit: number): Promise<number> => {
  const old =
    days > 0
      ? sql`(select ctid from trigger_event_counts
          where minute < platform_now() - ${days}::int * interval '1 day' order by minute limit ${limit})`
      : sql`(select null::tid as ctid where false)`;
  return affected(
    await sql`delete from trigger_event_counts where ctid = any(array(
      ${old} union all (select ctid from trigger_event_counts
        where trigger_id in (${deletedTriggers('trigger_event_counts')}) limit ${limit}) limit ${limit}))`.execute(
      tx,
    ),
  );
};
