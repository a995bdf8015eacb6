import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newServer, onFreePort } from './server.ts';

/** What a Collector does with traces: its exporters, and the extensions that they need. */
export interface CollectorConfig {
  exporters: Record<string, object>;
  extensions?: Record<string, object>;
}

export interface Collector extends AsyncDisposable {
  /** Where it takes traces: OTLP/HTTP. */
  url: string;
  pid: number;
  stop(): Promise<void>;
}

/**
 * An OpenTelemetry Collector. `binary` has the receiver `otlp` and what `configOf` names. `configOf` gets a folder for
 * what it stores; the folder is removed with the Collector.
 */
export const runCollector = async (
  binary: string,
  configOf: (directory: string) => CollectorConfig,
): Promise<Collector> => {
  const server = await newServer('collector');
  const config = join(server.base, 'config.yaml');
  const { exporters, extensions = {} } = configOf(server.base);
  const stop = () => server.stop('SIGKILL');
  let url = '';
  try {
    await onFreePort(async (port) => {
      url = `http://127.0.0.1:${port}/v1/traces`;
      const service = {
        extensions: Object.keys(extensions),
        pipelines: { traces: { receivers: ['otlp'], exporters: Object.keys(exporters) } },
        telemetry: { metrics: { level: 'none' }, logs: { level: 'error' } },
      };
      const receivers = { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port}` } } } };
      // JSON is YAML.
      await writeFile(config, JSON.stringify({ extensions, receivers, exporters, service }));
      await server.start({
        command: binary,
        args: ['--config', config],
        // Any response will do.
        isReady: () => fetch(url, { method: 'POST' }).then(() => true),
        withinMs: 20_000,
      });
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, pid: server.pid!, stop, [Symbol.asyncDispose]: stop };
};

export interface CollectorTarget {
  url: string;
  headers?: Record<string, string>;
  encoding?: 'proto' | 'json';
  compression?: 'gzip' | 'none';
}

/** A Collector that forwards what it receives, with its exporter `otlphttp`. */
export const startCollector = (
  binary: string,
  { url, headers = {}, encoding = 'proto', compression = 'gzip' }: CollectorTarget,
): Promise<Collector> =>
  runCollector(binary, () => ({
    exporters: { otlphttp: { traces_endpoint: url, headers, encoding, compression } },
  }));
