import { fork } from 'node:child_process';
import { on, once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command, CountersByIntegration, ServerOptions } from '../../harness/telemetry-server.ts';
import { freePort } from '../../harness/watchdog.ts';

const compiled = join(import.meta.dirname, '../../../node_modules/.cache/node');
const program = fileURLToPath(new URL('../../harness/telemetry-server.ts', import.meta.url));

/** The telemetry path in a process of its own, which never outlives this one. */
export interface TelemetryProcess extends AsyncDisposable {
  pid: number;
  port: number;
  /** The counters that the start found, before anything was accepted or delivered. Rejects if it ended before. */
  found: Promise<CountersByIntegration>;
  /** Resolves when it accepts requests and delivers. Rejects if it ended before. */
  ready: Promise<void>;
  /** Executes the command and resolves to the counters after it. One at a time. */
  send(command?: Command): Promise<CountersByIntegration>;
  /** Sends SIGKILL; resolves when it has ended. */
  kill(): Promise<void>;
}

export const spawnTelemetry = (options: ServerOptions): TelemetryProcess => {
  const child = fork(program, [JSON.stringify(options)], {
    stdio: 'inherit',
    env: { ...process.env, NODE_COMPILE_CACHE: compiled },
  });
  const gone = once(child, 'exit');
  const messages = on(child, 'message', { close: ['exit'] });
  const message = async (): Promise<unknown> => {
    const { done, value } = await messages.next();
    if (done) throw new Error('the telemetry process ended');
    return value[0];
  };
  const found = message() as Promise<CountersByIntegration>;
  const ready = found.then(async () => void (await message()));
  for (const promise of [found, ready]) promise.catch(() => {});
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await gone;
  };
  return {
    pid: child.pid!,
    port: options.port,
    found,
    ready,
    send: async (command = {}) => {
      child.send(command);
      return (await message()) as CountersByIntegration;
    },
    kill,
    [Symbol.asyncDispose]: kill,
  };
};

/** Runs `fn` with a process that accepts requests, on a folder of its own and without integrations at first. */
export const inTelemetryProcess = async <T>(
  options: Partial<ServerOptions>,
  fn: (process: TelemetryProcess) => Promise<T>,
): Promise<T> => {
  const directory = await mkdtemp(join(tmpdir(), 'ap-telemetry-'));
  try {
    await using process = spawnTelemetry({ directory, port: await freePort(), integrations: [], ...options });
    await process.ready;
    // Awaited here, because the process is killed afterwards.
    return await fn(process);
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  }
};
