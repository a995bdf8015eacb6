import { type Database, type Executor, instant, sql, type Tx } from '../../database/index.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import { Loop } from '../../lib/loop.ts';

/** Progress of one integration over all replicas. Counts in spans since it was created. */
export interface Sample {
  /** The start of the minute. */
  at: Date;
  delivered: number;
  dead_lettered: number;
  queued: number;
  /** The age of the oldest queued span, in seconds. */
  lag_seconds: number;
}

const minuteMs = 60_000;
const keptHours = 48;

/** Takes the sample of this minute of every integration, unless a replica has taken it. */
export const takeSamples = async (executor: Executor): Promise<void> => {
  await sql`insert into telemetry_samples (number, at, delivered, dead_lettered, queued, lag_seconds)
    select a.number, date_trunc('minute', platform_now()), sum(a.delivered), sum(a.dead_lettered), sum(a.queued),
      coalesce(greatest(0, extract(epoch from platform_now() - min(a.oldest_at) filter (where a.queued > 0))), 0)
    from telemetry_accounts a join observability_integrations i on i.number = a.number
    group by a.number on conflict do nothing`.execute(executor);
};

/** The samples of an integration of the last `hours`, oldest first. */
export const listSamples = async (executor: Executor, number: number, hours: number): Promise<Sample[]> => {
  const { rows } = await sql<Sample>`select at, delivered, dead_lettered, queued, lag_seconds
    from telemetry_samples
    where number = ${number} and at > platform_now() - make_interval(hours => ${hours}) order by at`.execute(
    executor,
  );
  return rows;
};

/** Spans that were delivered to all integrations in each hour from `from` on, by the samples of each minute. */
export const countDelivered = async (
  executor: Executor,
  from: number,
): Promise<{ at: Date; delivered: number }[]> => {
  const { rows } = await sql<{ at: Date; delivered: number }>`
    select at, sum(greatest(0, delivered - before))::bigint as delivered from (
      select at, delivered, lag(delivered, 1, first) over (partition by number order by at) as before from (
        select number, date_trunc('hour', at) as at, max(delivered) as delivered, min(delivered) as first
        from telemetry_samples where at >= ${instant(from)} group by 1, 2) hours) differences
    group by at order by at`.execute(executor);
  return rows;
};

/** Returns the time of the last error that is shown of each integration, by its number. */
export const listErrorTimes = async (executor: Executor): Promise<Map<number, Date>> => {
  const { rows } = await sql<{ number: number; at: Date }>`select number, max(last_error_at) as at
    from telemetry_accounts where last_error_at is not null group by number`.execute(executor);
  return new Map(rows.map(({ number, at }) => [number, at]));
};

/** Removes samples older than 48 hours. */
export const deleteOldSamples = async (tx: Tx, _settings: unknown, limit: number): Promise<number> => {
  const { numAffectedRows } = await sql`delete from telemetry_samples where (number, at) in (
    select number, at from telemetry_samples
    where at < platform_now() - make_interval(hours => ${keptHours}) limit ${limit})`.execute(tx);
  return Number(numAffectedRows ?? 0);
};

/** Takes samples at the start of each minute. */
export const samplingLoop = ({ db, log, clock }: { db: Database; log: Logger; clock: Clock }): Loop =>
  new Loop({
    name: 'telemetry samples',
    log,
    tick: async () => {
      await db.run(takeSamples);
      return minuteMs - (clock.now() % minuteMs);
    },
  });
