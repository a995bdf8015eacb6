import { startPostgres } from '../tests/harness/postgres.ts';
import { spawnPlatform } from '../tests/harness/process.ts';
import { newClient } from './console/client.ts';
import { measureConsoles } from './console/consoles.ts';
import { measurePages } from './console/pages.ts';
import { measureReads } from './console/reads.ts';
import { seed } from './console/seed.ts';

/** How much there is: schedules, and Work Items, most of them made by schedules. */
const schedules = Number(process.env.CONSOLE_SCHEDULES ?? 10_000);
const workItems = Number(process.env.CONSOLE_WORK_ITEMS ?? 1_000_000);

/**
 * The application on a real platform process with PostgreSQL and many rows: how long its reads take, what its pages
 * load and when they are there, and what 50 open ones cost. `CONSOLE_SCHEDULES`, `CONSOLE_WORK_ITEMS`, `CONSOLES`
 * (50) and `CONSOLE_SECONDS` (60, of the last part) set the sizes; `CONSOLE_PARTS` (`reads,pages,consoles`) says which
 * parts run. The platform fires and carries out nothing meanwhile. The pages need a Chromium, as the browser tests do.
 */
export const run = async (): Promise<void> => {
  const parts = (process.env.CONSOLE_PARTS ?? 'reads,pages,consoles').split(',');
  await using server = await startPostgres({ durable: true });
  const databaseUrl = await server.createDatabase();
  const seeded = await seed(databaseUrl, { schedules, workItems });
  await using platform = await spawnPlatform({
    databaseUrl,
    env: { ROLES: 'api,delivery', LOG_LEVEL: 'error' },
  });
  const client = await newClient(platform.url, platform.key);
  const settings = { RATE_LIMIT_REQUESTS_PER_SECOND: 0, MAX_SCHEDULES_PER_AGENT: 100_000 };
  await client.send('PATCH', '/api/v2/advanced-settings', settings);
  console.log(`${schedules} schedules, ${workItems} Work Items`);
  if (parts.includes('reads')) await measureReads(client, seeded);
  if (parts.includes('pages')) await measurePages(platform, seeded);
  if (parts.includes('consoles')) await measureConsoles(platform, server.pid!);
};

if (import.meta.main) await run();
