import { type Executor, type Json, json, sql, type Table, type Tx } from '../database/index.ts';
import type { LoopPass } from '../lib/loop.ts';

/** Reason why no replica was scheduling, as far as the one that ended the outage knows. */
export type OutageCause =
  /** The last one had been stopped. */
  | 'stopped'
  /** The last one had ended without a stop. */
  | 'lost'
  /** The database did not respond. */
  | 'database'
  /** The firing loop failed. */
  | 'firing'
  /** The process did not run. */
  | 'stalled'
  /** The clock was set forward, or the machine was suspended. */
  | 'clock';

/** A span in which no replica was scheduling. */
export interface Outage {
  from_at: Date;
  to_at: Date;
  cause: OutageCause;
}

interface ReplicaRow {
  id: string;
  name: string;
  roles: string[];
  version: string;
  started_at: Date;
  seen_at: Date;
  scheduling_at: Date | null;
  stopped_at: Date | null;
  clock_skew_ms: number | null;
  loops: LoopPass[];
  /** Null in a row that a release before wrote, like `telemetry_log_bytes`. */
  telemetry_log_id: string | null;
  telemetry_log_bytes: number | null;
}

declare module '../database/database.ts' {
  interface Schema {
    replicas: Table<Omit<ReplicaRow, 'loops'>, 'started_at' | 'seen_at'> & { loops: Json<LoopPass[]> };
    scheduling_outages: Outage;
  }
}

/** A replica that was not seen for this long is not alive: it has missed two heartbeats. */
const silentAfterMs = 15_000;
const silent = sql`${sql.lit(silentAfterMs)} * interval '1 millisecond'`;
const isAlive = sql<boolean>`stopped_at is null and seen_at > platform_now() - ${silent}`;

/** True if a replica is alive that executes Work Items. */
export const workerAlive = sql<boolean>`exists (select from replicas where 'worker' = any(roles) and ${isAlive})`;

/** True if every replica that is alive is of a release that knows approvals of the kind `input`. */
export const allTakeInput = sql<boolean>`not exists (select from replicas where not takes_input and ${isAlive})`;

/** Returns whether the replica is one of the `most` that have lived longest of those that are alive with this role. */
export const isAmongOldest = async (
  executor: Executor,
  id: string,
  role: string,
  most: number,
): Promise<boolean> => {
  const { rows } = await sql`select from (
      select id from replicas where ${role} = any(roles) and ${isAlive} order by started_at, id limit ${most}) oldest
    where id = ${id}`.execute(executor);
  return rows.length > 0;
};

/** A role of replicas: how many are alive that have it, and when one was last seen. */
export interface RoleState {
  role: string;
  replicas: number;
  alive: boolean;
  last_at: Date | null;
}

/** The roles that any replica has or had. */
export const listRoles = async (executor: Executor): Promise<RoleState[]> => {
  const { rows } = await sql<RoleState>`
    select role, count(*) filter (where alive)::int as replicas, bool_or(alive) as alive, max(seen_at) as last_at
    from (select unnest(roles) as role, seen_at, ${isAlive} as alive from replicas) seen
    group by role`.execute(executor);
  return rows;
};

/** Extra time on the database's clock, compared with that of a process, above which it counts as a jump. */
const jumpMs = 10_000;

export interface Beat
  extends Pick<ReplicaRow, 'id' | 'name' | 'roles' | 'version' | 'clock_skew_ms' | 'loops'> {
  /** True if its firing loop is at work. */
  scheduling: boolean;
  stopping: boolean;
  /** Time since it last wrote that it schedules, by a clock that no one sets; null if it never has. */
  elapsed_ms: number | null;
  /** Reason why it has not been since then, or since its start; null if it does not know. */
  cause: OutageCause | null;
  telemetry_log: { id: string; bytes: number };
}

/**
 * Writes that a replica is alive, and the outage that its being at work ends, if any. Of several that end one together
 * the first writes it. A replica that ran in the meantime knows why it was not scheduling; else the row of the last one
 * that was says how that ended. Times ahead of the database's clock are of a clock that was set back: they say nothing.
 * Returns the database's time.
 */
export const upsertBeat = async (executor: Executor, beat: Beat): Promise<number> => {
  const { id, name, roles, version, clock_skew_ms, loops, scheduling, stopping, elapsed_ms, cause } = beat;
  const { telemetry_log } = beat;
  const { rows } = await sql<{ now: Date }>`
    with last as (
      select scheduling_at, stopped_at from replicas where scheduling_at <= platform_now()
      order by scheduling_at desc limit 1
    ), beat as (
      insert into replicas (id, name, roles, version, scheduling_at, stopped_at, clock_skew_ms, loops,
        telemetry_log_id, telemetry_log_bytes, takes_input)
      values (${id}, ${name}, ${roles}::text[], ${version}, case when ${scheduling}::boolean then platform_now() end,
        case when ${stopping}::boolean then platform_now() end, ${clock_skew_ms}::bigint, ${json(loops)}::jsonb,
        ${telemetry_log.id}::uuid, ${telemetry_log.bytes}::bigint, true)
      on conflict (id) do update set seen_at = excluded.seen_at,
        scheduling_at = coalesce(excluded.scheduling_at, replicas.scheduling_at),
        stopped_at = excluded.stopped_at, clock_skew_ms = excluded.clock_skew_ms, loops = excluded.loops,
        telemetry_log_id = excluded.telemetry_log_id, telemetry_log_bytes = excluded.telemetry_log_bytes
    ), outage as (
      insert into scheduling_outages (from_at, to_at, cause)
      select last.scheduling_at, platform_now(), case
          when platform_now() - last.scheduling_at > (${elapsed_ms}::float8 + ${jumpMs}) * interval '1 millisecond'
            then 'clock'
          when ${cause}::text is not null then ${cause}
          when last.stopped_at is null then 'lost'
          else 'stopped'
        end
      from last where ${scheduling}::boolean and last.scheduling_at < platform_now() - ${silent}
      on conflict (from_at) do nothing
    )
    select platform_now() as now`.execute(executor);
  return rows[0]!.now.getTime();
};

export interface ListedReplica extends ReplicaRow {
  /** `silent`: it ended without a stop, or does not reach the database. */
  state: 'alive' | 'silent' | 'stopped';
}

/** The replicas that were seen last, at most `limit`: those that are alive are the first. */
export const listReplicas = async (executor: Executor, limit: number): Promise<ListedReplica[]> => {
  const { rows } = await sql<ListedReplica>`
    select id, name, roles, version, started_at, seen_at, scheduling_at, stopped_at, clock_skew_ms, loops,
      telemetry_log_id, telemetry_log_bytes,
      case when stopped_at is not null then 'stopped'
        when seen_at > platform_now() - ${silent} then 'alive' else 'silent' end as state
    from replicas order by seen_at desc limit ${limit}`.execute(executor);
  return rows;
};

/** The outages that overlap (from, to), oldest first, at most `limit`. */
export const listOutages = async (
  executor: Executor,
  from: Date,
  to: Date,
  limit: number,
): Promise<Outage[]> => {
  const { rows } = await sql<Outage>`select from_at, to_at, cause from scheduling_outages
    where to_at > ${from} and from_at < ${to} order by to_at limit ${limit}`.execute(executor);
  return rows;
};

export interface Scheduling {
  now: Date;
  /** True if a replica is scheduling. */
  alive: boolean;
  /** Last time at which a replica was scheduling; null if there is no record of any. */
  last_at: Date | null;
  /** Time before which there are no records of replicas. */
  known_from: Date;
}

export const findScheduling = async (executor: Executor): Promise<Scheduling> => {
  const { rows } = await sql<Scheduling>`
    select now, coalesce(last_at > now - ${silent}, false) as alive, last_at, known_from
    from (select platform_now() as now,
        (select max(scheduling_at) from replicas where scheduling_at <= platform_now()) as last_at,
        (select applied_at from migrations where name like '0130\\_%') as known_from) known`.execute(
    executor,
  );
  return rows[0]!;
};

/** Deletes at most `limit` replicas that were last seen a week ago, but for the last one that was scheduling. */
export const deleteOldReplicas = async (tx: Tx, limit: number): Promise<number> => {
  const { numAffectedRows } = await sql`delete from replicas where id in (
    select id from replicas where seen_at < platform_now() - interval '7 days'
      and scheduling_at is distinct from (select max(scheduling_at) from replicas) limit ${limit})`.execute(
    tx,
  );
  return Number(numAffectedRows ?? 0);
};

/** Deletes at most `limit` outages that ended more than `days` ago; none if `days` is 0. */
export const deleteOldOutages = async (tx: Tx, days: number, limit: number): Promise<number> => {
  if (days <= 0) return 0;
  const { numAffectedRows } = await sql`delete from scheduling_outages where from_at in (
    select from_at from scheduling_outages where to_at < platform_now() - ${days}::int * interval '1 day'
    limit ${limit})`.execute(tx);
  return Number(numAffectedRows ?? 0);
};
