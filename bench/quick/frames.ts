import { client } from '../../tests/harness/http.ts';
import type { Postgres } from '../../tests/harness/postgres.ts';
import { spawnPlatform } from '../../tests/harness/process.ts';
import { aggregate, makeBigFrame, measureBare } from '../data/frames.ts';
import { body, medianMs } from '../data/rig.ts';
import { less, type QuickRow } from './row.ts';

/** Measures a data frame of a million rows of CSV, and DuckDB on the same file. */
export const frames = async (postgres: Postgres): Promise<QuickRow[]> => {
  await using platform = await spawnPlatform({ databaseUrl: await postgres.createDatabase() });
  const api = client(`${platform.url}/api/v2`, platform.key);
  await body(api.patch('/advanced-settings', { MAX_FILE_SIZE_IN_MB: 200 }));
  const { path, csv, makeMs, waits } = await makeBigFrame({ api, platform, postgres });
  const pageMs = await medianMs(7, () => body(api.get(`${path}/data-frames/big/rows?limit=100`)));
  const aggregateMs = await medianMs(7, () =>
    body(api.post(`${path}/data-frames/query`, { sql: aggregate })),
  );
  const bare = await measureBare(csv);
  return [
    less('data frame of a million rows, made', 'ms', makeMs, bare.makeMs),
    less('data frame, first page', 'ms', pageMs, bare.pageMs),
    less('data frame, aggregate', 'ms', aggregateMs, bare.aggregateMs),
    less('another request while a frame is made, longest', 'ms', waits.longest),
  ];
};
