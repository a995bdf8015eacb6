import { loadavg } from 'node:os';
import { client } from '../tests/harness/http.ts';
import { startPostgres } from '../tests/harness/postgres.ts';
import { spawnPlatform } from '../tests/harness/process.ts';
import { measureDocuments } from './data/documents.ts';
import { measureFrames } from './data/frames.ts';
import { measureQueries } from './data/queries.ts';
import type { Figure, Rig } from './data/rig.ts';

/**
 * Company data on a real platform process with PostgreSQL: structured queries, data frames and documents, each with
 * the bare library on the same data in the same run, and how long another request waits meanwhile. `DATA_ROWS`
 * (1,000,000) is the size of the data frame; `DATA_PARTS` (`queries,frames,documents`) says which parts run.
 */
export const run = async (): Promise<void> => {
  const parts = (process.env.DATA_PARTS ?? 'queries,frames,documents').split(',');
  await using postgres = await startPostgres({ durable: true });
  await using platform = await spawnPlatform({
    databaseUrl: await postgres.createDatabase(),
    env: { LOG_LEVEL: 'error', EGRESS_DENY: '169.254.0.0/16' },
  });
  const api = client(`${platform.url}/api/v2`, platform.key);
  const settings = { RATE_LIMIT_REQUESTS_PER_SECOND: 0, MAX_FILE_SIZE_IN_MB: 200 };
  if ((await api.patch('/advanced-settings', settings)).status !== 200) throw new Error('no settings');
  const rig: Rig = { api, platform, postgres };
  const figures: Figure[] = [];
  if (parts.includes('queries')) figures.push(...(await measureQueries(rig)));
  if (parts.includes('frames')) figures.push(...(await measureFrames(rig)));
  if (parts.includes('documents')) figures.push(...(await measureDocuments(rig)));
  console.table(figures);
  const load = loadavg().map((value) => value.toFixed(1));
  console.log(`Load of the machine: ${load.join(', ')}.`);
};

if (import.meta.main) await run();
