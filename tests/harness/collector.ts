import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from './wait.ts';
import { freePort, startWatchdog } from './watchdog.ts';

export interface CollectorTarget {
  url: string;
  headers?: Record<string, string>;
  encoding?: 'proto' | 'json';
  compression?: 'gzip' | 'none';
}

/** An OpenTelemetry Collector that passes on what it gets. `binary` has the otlp receiver and the otlphttp exporter. */
export const startCollector = async (
  binary: string,
  { url, headers = {}, encoding = 'proto', compression = 'gzip' }: CollectorTarget,
): Promise<{ url: string } & AsyncDisposable> => {
  const directory = await mkdtemp(join(tmpdir(), 'ap-collector-'));
  const watchdog = startWatchdog([directory]);
  const port = await freePort();
  const config = join(directory, 'config.yaml');
  // JSON is YAML.
  await writeFile(
    config,
    JSON.stringify({
      receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port}` } } } },
      exporters: { otlphttp: { traces_endpoint: url, headers, encoding, compression } },
      service: {
        pipelines: { traces: { receivers: ['otlp'], exporters: ['otlphttp'] } },
        telemetry: { metrics: { level: 'none' }, logs: { level: 'fatal' } },
      },
    }),
  );
  const child = spawn(binary, ['--config', config], {
    stdio: ['ignore', 'ignore', 'inherit'],
    detached: true,
  });
  const gone = once(child, 'exit');
  watchdog.watch(child.pid ?? null);
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await gone;
    await rm(directory, { recursive: true, force: true });
    watchdog.release();
  };
  const collector = { url: `http://127.0.0.1:${port}/v1/traces`, [Symbol.asyncDispose]: stop };
  try {
    // Any answer will do.
    await until(() => fetch(collector.url).then(() => true), 20_000, 50);
  } catch (error) {
    await stop();
    throw error;
  }
  return collector;
};
