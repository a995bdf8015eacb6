import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from './wait.ts';
import { freePort, startWatchdog } from './watchdog.ts';

export interface ServerRun {
  command: string;
  args: string[];
  options?: SpawnOptions;
  /** Whether it is ready; a throw counts as not yet. */
  isReady: () => Promise<unknown>;
  withinMs: number;
}

/** A server's program as a child process, in a temporary folder of its own. It never outlives this process. */
export interface Server {
  /** Its folder. */
  readonly base: string;
  /** The id of the process; null while it does not run. */
  readonly pid: number | null;
  /** Resolves when it is ready; throws with the end of its log when it gives up. */
  start(run: ServerRun): Promise<void>;
  /** Sends it a signal and waits until it has ended. */
  kill(signal: NodeJS.Signals): Promise<void>;
  /** What it has written so far. */
  log(): Promise<string>;
  /** Ends it by this signal and removes its folder. May be called twice. */
  stop(signal: NodeJS.Signals): Promise<void>;
}

/** `name` is for the error message if it does not start. */
export async function newServer(name: string): Promise<Server> {
  const base = await mkdtemp(join(tmpdir(), `ap-${name}-`));
  const watchdog = startWatchdog([base]);
  const logFile = join(base, 'server.log');
  let running: ChildProcess | null = null;
  const log = () => readFile(logFile, 'utf8');
  const kill = async (signal: NodeJS.Signals): Promise<void> => {
    if (!running) return;
    const gone = once(running, 'exit');
    running.kill(signal);
    await gone;
  };
  return {
    base,
    get pid() {
      return running?.pid ?? null;
    },
    start: async ({ command, args, options, isReady, withinMs }) => {
      const output = openSync(logFile, 'a');
      const child = spawn(command, args, {
        ...options,
        stdio: ['ignore', output, output],
        // Ctrl-C in the terminal reaches the tests, which then stop it.
        detached: true,
      });
      closeSync(output);
      child.once('exit', () => {
        if (running === child) running = null;
        watchdog.watch(null);
      });
      await once(child, 'spawn');
      running = child;
      watchdog.watch(child.pid!);
      await until(() => running !== child || isReady(), withinMs);
      if (running !== child) throw new Error(`${name} did not start: ${(await log()).slice(-2_000)}`);
    },
    kill,
    log,
    stop: async (signal) => {
      await kill(signal);
      await rm(base, { recursive: true, force: true, maxRetries: 5 });
      watchdog.release();
    },
  };
}

/** Starts on a free port. If another process takes the port before the start, tries another one. */
export async function onFreePort(start: (port: number) => Promise<void>): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return await start(await freePort());
    } catch (error) {
      if (tries === 3 || !/address already in use/i.test(String(error))) throw error;
    }
  }
}
