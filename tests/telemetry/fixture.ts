import { afterAll, beforeAll, beforeEach } from 'vitest';
import { spansNamed } from '../../packages/otlp/tests/encode.ts';
import type { Health } from '../../src/telemetry/index.ts';
import { must } from '../faults/scenarios/fixture.ts';
import { createMigrated } from '../harness/database.ts';
import { type Client, client } from '../harness/http.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../harness/otlp-receiver.ts';
import { dropDatabase } from '../harness/postgres.ts';
import { type PlatformProcess, spawnPlatform } from '../harness/process.ts';
import { until } from '../harness/wait.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

export const integrations = '/observability/integrations';

/**
 * The platform as a process of its own, over a PostgreSQL database of its own, with what the tests of traces do with
 * it.
 */
export interface TracedPlatform extends AsyncDisposable {
  process: PlatformProcess;
  databaseUrl: string;
  /** The trace endpoint. */
  tracesUrl: string;
  /** As the admin, below /api/v2 and /app/api. */
  api: Client;
  app: Client;
  as(key: string | undefined, base?: string): Client;
  /** Creates an integration and returns its id; every agent's spans go to it. */
  integrate(settings: object, debug?: boolean): Promise<string>;
  health(id: string): Promise<Health>;
  /** Waits until the health matches; fails with the health that it found. */
  healthIs(id: string, wanted: Partial<Health>): Promise<Health>;
  /** Sends spans `PREFIX-0`, … of an agent, which are accepted. `padding` is the length of the text in each. */
  send(prefix: string, count: number, padding?: number): Promise<void>;
  /** The counters of an integration in /metrics, by its label. */
  metrics(label: string): Promise<Record<string, number>>;
  /** Kills the platform with SIGKILL and starts it again on the same data. */
  restart(): Promise<void>;
}

export const startTracedPlatform = async (env: Record<string, string> = {}): Promise<TracedPlatform> => {
  const databaseUrl = await createMigrated();
  const start = (more: { dataDir?: string; port?: number } = {}) =>
    spawnPlatform({ databaseUrl, env, ...more });
  const first = await start();
  const as = (key: string | undefined, base = '/api/v2') => client(first.url + base, key);
  const api = as(first.key);
  const platform: TracedPlatform = {
    process: first,
    databaseUrl,
    tracesUrl: `${first.url}/v1/traces`,
    api,
    app: as(first.key, '/app/api'),
    as,
    integrate: async (settings, debug = false) => {
      const made: Json = await must(api.post(integrations, { version: '1', settings, debug }));
      return made.id;
    },
    health: async (id) => (await must(api.get(`${integrations}/${id}/health`))) as unknown as Health,
    healthIs: async (id, wanted) => {
      let is: Json;
      return await until(async () => {
        is = await platform.health(id);
        return Object.entries(wanted).every(([name, value]) => is[name] === value) && (is as Health);
      }).catch(() => {
        throw new Error(`health is ${JSON.stringify(is)}, not ${JSON.stringify(wanted)}`);
      });
    },
    send: async (prefix, count, padding) => {
      await must(
        api.raw('POST', '/telemetry/v1/traces', spansNamed(prefix, count, 'agent', padding), {
          headers: { 'content-type': 'application/x-protobuf' },
        }),
      );
    },
    metrics: async (label) => {
      const text = await (await fetch(`${first.url}/metrics`)).text();
      const line = /^agent_platform_integration_spans\{integration="([^"]*)",state="(\w+)"\} (\d+)$/gm;
      return Object.fromEntries(
        [...text.matchAll(line)].filter(([, of]) => of === label).map(([, , state, n]) => [state, Number(n)]),
      );
    },
    restart: async () => {
      await platform.process.kill();
      platform.process = await start({ dataDir: first.dataDir, port: first.port });
    },
    [Symbol.asyncDispose]: async () => {
      await platform.process.stop();
      await first.stop();
      await dropDatabase(databaseUrl);
    },
  };
  return platform;
};

/**
 * One platform and one backend for all tests of a file or a block; each test begins with an empty record of the
 * backend.
 */
export const useTracedPlatform = (): { platform: TracedPlatform; backend: OtlpReceiver } => {
  const fixture = {} as { platform: TracedPlatform; backend: OtlpReceiver };
  beforeAll(async () => {
    fixture.platform = await startTracedPlatform();
    fixture.backend = await startOtlpReceiver();
  });
  afterAll(async () => {
    await fixture.platform?.[Symbol.asyncDispose]();
    await fixture.backend?.close();
  });
  beforeEach(() => {
    fixture.backend.clear();
    fixture.backend.respondWith(200);
  });
  return fixture;
};
