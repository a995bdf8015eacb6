import pg from 'pg';
import type { Made } from './measure.ts';
import type { RunningPeer } from './peer.ts';

/**
 * Counts and reads a peer's jobs in PostgreSQL. `from` is the end of a query, from its FROM on, whose table is called
 * `job`; `$1` in it is the instant that they were due at. `created` is the expression of when a row says it was made.
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
        await client.query<Made>(
          `select extract(epoch from pg_xact_commit_timestamp(job.xmin))::float8 * 1000 as committed,
            extract(epoch from ${created})::float8 * 1000 as created ${from}`,
          [due],
        )
      ).rows,
    close: () => client.end(),
  };
};
