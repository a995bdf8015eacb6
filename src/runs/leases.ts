import { type Executor, type RawBuilder, sql, type Tx } from '../database/index.ts';
import type { Who } from '../lib/principal.ts';
import { type Moved, type RunKind, type RunRow, sqlOf } from './kind.ts';
import { type Lease, worker } from './types.ts';

/** Claimant, and the time that the lease lasts. */
export interface Claimer {
  owner: string;
  leaseSeconds: number;
  /** The name in the history; default: the worker of the platform. */
  by?: Who;
}

/** Work that a worker can take now, and the time until there is more. */
export interface WorkAhead {
  /** True if work is due. Perhaps none of it can be claimed: its agents may have no room. */
  isDue: boolean;
  /**
   * Milliseconds until a retry is due or a lease expires, whichever comes first; 0 if a lease has expired; null if
   * there is neither. A retry that is due is left out: if no claim took it, its agent has no room, and the end of an
   * execution notifies the workers.
   */
  nextIn: number | null;
}

const afterSeconds = (seconds: number) => sql`platform_now() + make_interval(secs => ${seconds})`;

/** Returns claim, heartbeat, and the look for work, for runs of a kind. */
export const leasesOf = <Row extends RunRow>(kind: RunKind<Row>) => {
  const { table, word, holds, cancelRequested } = sqlOf(kind);
  const { parent, unsafeColumn } = kind;
  const waits = sql`status = ${word('PENDING')}`;

  /** Returns the statement that claims the runs of `free`, a query of `id` that locks its rows. */
  const claimStatement = ({ owner, leaseSeconds }: Claimer): RawBuilder<unknown> => sql`
      update ${table} w set ${sql.join([
        sql`status = ${word('EXECUTING')}`,
        sql`attempts = attempts + 1`,
        sql`fencing = fencing + 1`,
        sql`lease_owner = ${owner}`,
        sql`lease_expires_at = ${afterSeconds(leaseSeconds)}`,
        sql`not_before = null`,
        ...kind.onClaim,
      ])}
      from free where w.id = free.id returning ${kind.columns}, ${word('PENDING')} as from_status`;

  /** Claims the runs of `free`, a query of ids that locks its rows. The caller calls `recordClaim` once for all. */
  const take = async (tx: Tx, claimer: Claimer, free: RawBuilder<unknown>): Promise<Moved<Row>[]> => {
    const { rows } = await sql<Moved<Row>>`with free as (${free}) ${claimStatement(claimer)}`.execute(tx);
    return rows;
  };

  const recordClaim = (tx: Tx, rows: readonly Moved<Row>[], { owner, by: principal = worker }: Claimer) =>
    kind.onMoved(tx, rows, {
      action: 'claim',
      principal,
      details: ({ agent_version }) => ({ owner, agent_version }),
    });

  /** Claims up to `limit` runs that are due, the oldest first. */
  const claim = async (tx: Tx, { limit, ...claimer }: Claimer & { limit: number }): Promise<Moved<Row>[]> => {
    const due = sql`select id from ${table}
      where ${waits} and (not_before is null or not_before <= (select platform_now()))
      order by created_at, id limit ${limit} for update skip locked`;
    const rows = await take(tx, claimer, due);
    await recordClaim(tx, rows, claimer);
    return rows;
  };

  /**
   * Extends the lease, and stores whether calls that must not be repeated are in flight if that is given. Not `alive`:
   * the lease was lost, and nothing that its holder does counts any more.
   */
  const heartbeat = async (
    executor: Executor,
    lease: Lease & { leaseSeconds: number; unsafe?: boolean | undefined },
  ): Promise<{ alive: boolean; cancelRequested: boolean; expiresAt: Date | null }> => {
    const unsafe =
      unsafeColumn && lease.unsafe !== undefined ? sql`, ${sql.ref(unsafeColumn)} = ${lease.unsafe}` : sql``;
    // The parent is locked before the run.
    const locked = parent
      ? sql`from (select id from ${sql.table(parent.table)}
          where id = (select ${sql.ref(parent.key)} from ${table} where id = ${lease.id}) for update) c
        where w.${sql.ref(parent.key)} = c.id and`
      : sql`where`;
    const { rows } = await sql<{ cancel: boolean; at: Date }>`
      update ${table} w set lease_expires_at = ${afterSeconds(lease.leaseSeconds)}${unsafe}
      ${locked} ${holds(lease)} returning ${cancelRequested} as cancel, w.lease_expires_at as at`.execute(
      executor,
    );
    const [held] = rows;
    return { alive: held !== undefined, cancelRequested: held?.cancel ?? false, expiresAt: held?.at ?? null };
  };

  /** Looks for work without a lock, in one statement: most ticks find nothing to do. */
  const lookForWork = async (executor: Executor): Promise<WorkAhead> => {
    const { rows } = await sql<{ due: boolean; at: Date | null; now: Date }>`
      select exists (select from ${table} where ${waits} and not_before is null)
        or exists (select from ${table} where ${waits} and not_before <= (select platform_now())) as due,
      least(
        (select min(not_before) from ${table} where ${waits} and not_before > (select platform_now())),
        (select min(lease_expires_at) from ${table} where status = ${word('EXECUTING')})
      ) as at, platform_now() as now`.execute(executor);
    const { due, at, now } = rows[0]!;
    return { isDue: due, nextIn: at && Math.max(0, at.getTime() - now.getTime()) };
  };

  return { take, claimStatement, recordClaim, claim, heartbeat, lookForWork };
};
