import { type Database, openPostgres, sql } from '../../src/database/index.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { until } from '../../tests/harness/wait.ts';
import { percentile } from '../console/client.ts';
import { seedItems } from '../runtime/items.ts';
import { startClient } from '../telemetry/processes.ts';
import type { Rig } from './rig.ts';

/** What one measurement does. */
export const sizes = {
  herd: Number(process.env.SCALING_HERD ?? 10_000),
  items: Number(process.env.SCALING_ITEMS ?? 2_000),
  reads: Number(process.env.SCALING_READS ?? 4_000),
  seconds: Number(process.env.SCALING_SECONDS ?? 5),
};

interface Done {
  count: number;
  seconds: number;
}

/** How long before its instant a herd is made due, so that making it is not part of the measurement. */
const aheadMs = 2_000;

/** Makes `count` schedules due at one instant. Returns a function that waits until all have fired. */
export const prepareHerd = async ({ client }: Rig, count: number): Promise<() => Promise<Done>> => {
  const due = new Date(Date.now() + aheadMs + count / 10);
  const { rowCount } = await client.query(
    `with herd as (select id from schedules where enabled order by id limit $1)
     update schedules s set next_run_at = $2 from herd where s.id = herd.id`,
    [count, due],
  );
  await client.query(`select pg_notify('schedules', $1)`, [String(due.getTime())]);
  const wanted = rowCount ?? 0;
  return async () => {
    let last = due;
    await until(
      async () => {
        const { rows } = await client.query<{ left: boolean; last: Date }>(
          `select exists (select from schedules where next_run_at <= $1) as left,
            (select max(at) from occurrences where at >= $1) as last`,
          [due],
        );
        last = rows[0]!.last ?? due;
        return Date.now() > due.getTime() && !rows[0]!.left;
      },
      600_000,
      100,
    );
    return { count: wanted, seconds: (last.getTime() - due.getTime()) / 1_000 };
  };
};

/** Work Items of one step, carried out from PENDING to COMPLETED. */
export const carryOut = async ({ databaseUrl, client }: Rig, count: number): Promise<Done> => {
  const db: Database = await openPostgres(databaseUrl, silentLogger, 2);
  try {
    const { rows: agents } = await client.query<{ id: string }>('select id from agents limit 20');
    await client.query('update agents set max_concurrency = 1000 where id = any($1)', [
      agents.map(({ id }) => id),
    ]);
    const { rows: before } = await client.query<{ at: Date }>('select clock_timestamp() as at');
    await seedItems(
      db,
      agents.map(({ id }) => id),
      count,
      { steps: [{ text: 'The report is empty.' }] },
    );
    const since = before[0]!.at;
    await until(
      async () => {
        const { rows } = await client.query<{ n: number }>(
          `select count(*)::int as n from work_items where finished_at > $1 and status = 'COMPLETED'`,
          [since],
        );
        return rows[0]!.n >= count;
      },
      600_000,
      200,
    );
    const { rows } = await db.run((reader) =>
      sql<{
        seconds: number;
      }>`select extract(epoch from max(finished_at) - min(started_at))::float8 as seconds
        from work_items where finished_at > ${since}`.execute(reader),
    );
    return { count, seconds: rows[0]!.seconds };
  } finally {
    await db.close();
  }
};

/** Reads in a closed loop of 4 clients for each replica. Returns also the median and the 99th percentile, in ms. */
export const read = async ({ replicas }: Rig, paths: readonly string[], count: number) => {
  const took: number[] = [];
  let next = 0;
  const begun = performance.now();
  const clients = replicas.flatMap((replica) =>
    Array.from({ length: 4 }, async () => {
      const headers = { authorization: `Bearer ${replica.key}` };
      while (next < count) {
        const path = paths[next++ % paths.length]!;
        const at = performance.now();
        const response = await fetch(replica.url + path, { headers });
        await response.arrayBuffer();
        if (!response.ok) throw new Error(`${response.status} ${path}`);
        took.push(performance.now() - at);
      }
    }),
  );
  await Promise.all(clients);
  const seconds = (performance.now() - begun) / 1_000;
  return { count: took.length, seconds, p50: percentile(took, 0.5), p99: percentile(took, 0.99) };
};

/** Requests of 50 spans with gzip, from two connections to each replica. */
export const sendSpans = async ({ replicas }: Rig): Promise<Done> => {
  const clients = replicas.map(() => startClient());
  try {
    const reports = await Promise.all(
      replicas.map(({ url, key }, i) =>
        clients[i]!.load({
          url: `${url}/v1/traces`,
          headers: { authorization: `Bearer ${key}` },
          format: 'protobuf',
          gzip: true,
          spans: 50,
          connections: 2,
          seconds: sizes.seconds,
        }),
      ),
    );
    return {
      count: reports.reduce((sum, { requests }) => sum + requests * 50, 0),
      seconds: Math.max(...reports.map(({ ms }) => ms)) / 1_000,
    };
  } finally {
    for (const client of clients) client.stop();
  }
};
