import pg from 'pg';
import type { Job } from './measure.ts';
import type { RunningPeer } from './peer.ts';

/**
 * Counts and reads a peer's jobs in PostgreSQL. `from` is the end of a query, beginning with its FROM, whose table is
 * called `job`; `$1` in it is the instant at which they were due. `created` is the expression for the creation time of
 * a row.
 */
export const jobsIn = async (
  url: string,
  due: Date,
  from: string,
  created: string,
): Promise<Pick<RunningPeer, 'count' | 'jobs'> & { close(): Promise<void> }> => {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  return {
    count: async () => (await client.query(`select count(*)::int as n ${from}`, [due])).rows[0].n,
    jobs: async () =>
      (
        await client.query<Job>(
          `select extract(epoch from pg_xact_commit_timestamp(job.xmin))::float8 * 1000 as committed,
            extract(epoch from ${created})::float8 * 1000 as created ${from}`,
          [due],
        )
      ).rows,
    close: () => client.end(),
  };
};
