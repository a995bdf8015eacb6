import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newServer, onFreePort } from '../../tests/harness/server.ts';
import { freePort } from '../../tests/harness/watchdog.ts';
import { ms } from '../data/rig.ts';
import { percentile } from '../runtime/items.ts';
import { cpuOf } from '../telemetry/target.ts';
import { requestOf, requestsOf, traceOf } from './spans.ts';

const spans = 250_000;

const sizeOf = async (folder: string): Promise<number> => {
  let bytes = 0;
  for (const name of await readdir(folder, { recursive: true })) {
    const found = await stat(join(folder, name)).catch(() => null);
    // Badger's files are longer than what is in them until they are closed.
    if (found?.isFile()) bytes += found.blocks * 512;
  }
  return bytes;
};

/**
 * Jaeger with its embedded store, Badger, as the peer: a batch processor before the store, no durable queue. `binary` is
 * the program of its second generation. Tried with release 1.76 (the command `jaeger`).
 */
export const measureJaeger = async (binary: string): Promise<Record<string, string>> => {
  const server = await newServer('jaeger');
  const data = join(server.base, 'data');
  const [query, grpc] = [await freePort(), await freePort()];
  let receive = '';
  const api = `http://127.0.0.1:${query}/api`;
  const read = async (path: string): Promise<{ data: { spans: unknown[] }[] }> => {
    const response = await fetch(`${api}${path}`, { headers: { 'accept-encoding': 'gzip' } });
    return JSON.parse(await response.text());
  };
  try {
    await onFreePort(async (port) => {
      receive = `http://127.0.0.1:${port}/v1/traces`;
      const config = {
        service: {
          extensions: ['jaeger_storage', 'jaeger_query'],
          pipelines: {
            traces: { receivers: ['otlp'], processors: ['batch'], exporters: ['jaeger_storage_exporter'] },
          },
          telemetry: { metrics: { level: 'none' }, logs: { level: 'error' } },
        },
        extensions: {
          jaeger_query: {
            storage: { traces: 'own' },
            http: { endpoint: `127.0.0.1:${query}` },
            grpc: { endpoint: `127.0.0.1:${grpc}` },
          },
          jaeger_storage: {
            backends: { own: { badger: { directories: { keys: data, values: data }, ephemeral: false } } },
          },
        },
        receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port}` } } } },
        processors: { batch: {} },
        exporters: { jaeger_storage_exporter: { trace_storage: 'own' } },
      };
      // JSON is YAML.
      await writeFile(join(server.base, 'config.yaml'), JSON.stringify(config));
      await server.start({
        command: binary,
        args: ['--config', join(server.base, 'config.yaml')],
        isReady: () => read('/services').then(() => true),
        withinMs: 60_000,
      });
    });
    const send = async (bytes: Buffer): Promise<void> => {
      const headers = { 'content-type': 'application/x-protobuf' };
      const response = await fetch(receive, { method: 'POST', headers, body: new Uint8Array(bytes) });
      if (response.status !== 200) throw new Error(await response.text());
      await response.arrayBuffer();
    };
    const big = traceOf(10_000, Date.now());
    const requests = requestsOf(spans / 10, 10, Date.now());
    for (let i = 0; i < big.length; i += 500) await send(requestOf(big.slice(i, i + 500)).bytes);
    const isWhole = async () => {
      const { data: found } = await read(`/traces/${big[0]!.traceId}`);
      return found?.[0]?.spans.length === big.length;
    };
    while (!(await isWhole())) await sleep(200);
    const before = cpuOf(server.pid!).all;
    for (let i = 0; i < requests.length; i += 4) {
      await Promise.all(requests.slice(i, i + 4).map(({ bytes }) => send(bytes)));
    }
    // What the batches still hold.
    await sleep(3_000);
    const cpu = cpuOf(server.pid!).all - before;
    const bytes = await sizeOf(data);

    const timed = async (path: string, rounds: number): Promise<number[]> => {
      const took: number[] = [];
      for (let i = 0; i <= rounds; i++) {
        const begun = performance.now();
        await read(path);
        // The first round fills caches.
        if (i > 0) took.push(performance.now() - begun);
      }
      return took;
    };
    const newest = '/traces?service=shop&limit=20&lookback=2h';
    const tagged = (tags: object) => `${newest}&tags=${encodeURIComponent(JSON.stringify(tags))}`;
    const searches = [
      newest,
      tagged({ error: 'true' }),
      tagged({ 'gen_ai.request.model': 'gpt-5.2' }),
      tagged({ 'gen_ai.tool.name': 'pay' }),
      tagged({ 'error.type': 'timeout' }),
      `${newest}&minDuration=20s`,
      '/traces?service=nowhere&limit=20&lookback=2h',
    ];
    const took: number[] = [];
    for (const search of searches) took.push(...(await timed(search, 9)));
    const whole = await timed(`/traces/${big[0]!.traceId}`, 20);
    return {
      'CPU a span, 10 a trace': `${(cpu / spans).toFixed(1)} µs`,
      'disk a span, 10 a trace': `${Math.round(bytes / (spans + big.length))} B`,
      [`search among ${spans} spans, p95 (median)`]: `${ms(percentile(took, 0.95))} (${ms(percentile(took, 0.5))})`,
      'trace of 10,000 spans, p95': ms(percentile(whole, 0.95)),
    };
  } finally {
    await server.stop('SIGKILL');
  }
};
