import { createDatabase, dropDatabase } from '../../tests/harness/postgres.ts';
import { spawnPlatform } from '../../tests/harness/process.ts';
import type { Target } from './target.ts';

/** The platform with a PostgreSQL next to it (the embedded database alone takes several hundred MB). */
export const startPlatform = async (postgres: string, urls: readonly string[]): Promise<Target> => {
  const databaseUrl = await createDatabase(postgres);
  const profile = process.env.TELEMETRY_PROFILE;
  const platform = await spawnPlatform({
    databaseUrl,
    env: {
      LOG_LEVEL: 'error',
      ...(profile ? { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${profile}` } : {}),
    },
  });
  const headers = { authorization: `Bearer ${platform.key}` };
  const api = async (method: string, path: string, body: object): Promise<void> => {
    const response = await fetch(`${platform.url}/api/v2${path}`, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(await response.text());
  };
  await api('PATCH', '/advanced-settings', { RATE_LIMIT_REQUESTS_PER_SECOND: 0 });
  for (const url of urls) {
    const settings = { provider: 'otlp_custom_headers', url, headers: { 'X-Bench': '1' } };
    await api('POST', '/observability/integrations', { version: '1', settings });
  }
  return {
    what: 'Agent Platform',
    pid: platform.pid,
    url: `${platform.url}/v1/traces`,
    headers,
    oneMainThread: true,
    stop: async () => {
      // A profile is written when the process exits cleanly.
      if (profile) await platform.kill('SIGTERM');
      await platform.stop();
      await dropDatabase(databaseUrl);
    },
  };
};
