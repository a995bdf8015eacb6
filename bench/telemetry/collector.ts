import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../tests/harness/wait.ts';
import { freePort } from '../../tests/harness/watchdog.ts';
import type { Target } from './target.ts';

/**
 * The OpenTelemetry Collector as the peer, as durable as it can be told to be: no batch processor (which would answer
 * 200 before anything is stored), one exporter for each destination, each with a persistent queue that is synced for
 * every request before that is answered. It drops what a destination refuses for good, and by default what could not
 * be delivered for 5 minutes. `tuned`: gzip at level 1 instead of its default. Tried with release 0.162, built of the
 * receiver `otlp`, the exporter `otlphttp` and the extension `file_storage`.
 */
export const startCollector = async (
  binary: string,
  destinations: readonly string[],
  tuned: boolean,
): Promise<Target> => {
  const directory = mkdtempSync(join(tmpdir(), 'ap-bench-otelcol-'));
  const port = await freePort();
  const exporters = Object.fromEntries(
    destinations.map((traces_endpoint, i) => [
      `otlphttp/${i}`,
      {
        traces_endpoint,
        compression: 'gzip',
        ...(tuned ? { compression_params: { level: 1 } } : {}),
        sending_queue: { storage: 'file_storage', queue_size: 100_000 },
      },
    ]),
  );
  const config = join(directory, 'config.yaml');
  // JSON is YAML.
  writeFileSync(
    config,
    JSON.stringify({
      extensions: { file_storage: { directory, fsync: true } },
      receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port}` } } } },
      exporters,
      service: {
        extensions: ['file_storage'],
        pipelines: { traces: { receivers: ['otlp'], exporters: Object.keys(exporters) } },
        telemetry: { metrics: { level: 'none' }, logs: { level: 'error' } },
      },
    }),
  );
  const child: ChildProcess = spawn(binary, ['--config', config], { stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const url = `http://127.0.0.1:${port}/v1/traces`;
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    await until(
      () =>
        fetch(url, { method: 'POST' }).then(
          () => true,
          () => false,
        ),
      10_000,
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    what: tuned ? 'Collector, gzip 1' : 'Collector',
    pid: child.pid!,
    url,
    headers: {},
    oneMainThread: false,
    stop,
  };
};
