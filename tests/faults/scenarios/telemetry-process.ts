import { fork } from 'node:child_process';
import { on, once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileCache } from '../../harness/process.ts';
import type { Accounts, Command, ServerOptions } from '../../harness/telemetry-server.ts';
import { freePort } from '../../harness/watchdog.ts';

const program = fileURLToPath(new URL('../../harness/telemetry-server.ts', import.meta.url));

/** The telemetry path in a process of its own, which never outlives this one. */
export interface TelemetryProcess extends AsyncDisposable {
  pid: number;
  port: number;
  /** The accounts as the start found them, before anything was taken or delivered. Rejects where it ended before. */
  found: Promise<Accounts>;
  /** It takes requests and delivers. Rejects where it ended before. */
  ready: Promise<void>;
  /** Carries the command out and answers the accounts behind it. One at a time. */
  tell(command?: Command): Promise<Accounts>;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
}

export const spawnTelemetry = (options: ServerOptions): TelemetryProcess => {
  const child = fork(program, [JSON.stringify(options)], {
    stdio: 'inherit',
    env: { ...process.env, ...compileCache },
  });
  const gone = once(child, 'exit');
  const messages = on(child, 'message', { close: ['exit'] });
  const message = async (): Promise<unknown> => {
    const { done, value } = await messages.next();
    if (done) throw new Error('the telemetry process ended');
    return value[0];
  };
  const found = message() as Promise<Accounts>;
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
    tell: async (command = {}) => {
      child.send(command);
      return (await message()) as Accounts;
    },
    kill,
    [Symbol.asyncDispose]: kill,
  };
};

/** Runs `fn` with a process that takes requests, on a folder of its own and without integrations at first. */
export const inTelemetryProcess = async <T>(
  options: Partial<ServerOptions>,
  fn: (process: TelemetryProcess) => Promise<T>,
): Promise<T> => {
  const directory = await mkdtemp(join(tmpdir(), 'ap-telemetry-'));
  try {
    await using process = spawnTelemetry({ directory, port: await freePort(), integrations: [], ...options });
    await process.ready;
    // Awaited here, or the process would be gone before.
    return await fn(process);
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  }
};
