import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeOptions, startEnvironment } from '../../src/program.ts';
import { until } from './wait.ts';
import { freePort, startWatchdog } from './watchdog.ts';

/** The admin key of platforms that tests start, unless `env` sets BOOTSTRAP_ADMIN_API_KEY. */
export const adminKey = 'admin-key-of-the-tests-0123456789abcdef';
/** One key for all, so that replicas on one database can read what the others wrote. */
export const encryptionKey = Buffer.alloc(32, 7).toString('base64');

const root = fileURLToPath(new URL('../../', import.meta.url));

export interface PlatformProcessOptions {
  /** Environment variables of the platform; of this process's own it gets only PATH, HOME and TMPDIR. */
  env?: Record<string, string>;
  /** Its DATA_DIR: a temporary folder, removed at the end, unless given. */
  dataDir?: string;
  /** Its DATABASE_URL: the embedded database unless given. */
  databaseUrl?: string;
  port?: number;
  /** How long it may take until `/readyz` responds with 200; default 60 s. null: do not wait for it. */
  readyWithinMs?: number | null;
  /** Another program to run instead of the platform, below the root of the project. */
  program?: string;
  /** The folder of another release, installed: its platform is started, on its own Node. */
  release?: string;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface PlatformProcess extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`, without a path. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly dataDir: string;
  /** The admin key that it was started with. */
  readonly key: string;
  /** Resolves when the process has ended, and its output is complete. */
  readonly exited: Promise<Exit>;
  /** Sends a signal and resolves when the process has ended. */
  kill(signal?: NodeJS.Signals): Promise<Exit>;
  /** All of its standard output and standard error so far. */
  output(): string;
  /** SIGKILL if it still runs, and its own folder removed. `await using` calls it. */
  stop(): Promise<void>;
}

/** Starts the platform as a real process and waits until it is ready. It never outlives this process. */
export async function spawnPlatform(options: PlatformProcessOptions = {}): Promise<PlatformProcess> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'ap-data-')));
  const own = options.dataDir === undefined ? [dataDir] : [];
  const watchdog = startWatchdog(own);
  const port = options.port ?? (await freePort());
  const url = `http://127.0.0.1:${port}`;
  const { PATH, HOME, TMPDIR } = process.env;
  const env: Record<string, string | undefined> = {
    PATH,
    HOME,
    TMPDIR,
    ...startEnvironment,
    HOST: '127.0.0.1',
    PORT: String(port),
    DATA_DIR: dataDir,
    BOOTSTRAP_ADMIN_API_KEY: adminKey,
    ...(options.databaseUrl ? { DATABASE_URL: options.databaseUrl, ENCRYPTION_KEY: encryptionKey } : {}),
    ...options.env,
  };
  const from = options.release ?? root;
  const node = options.release ? join(from, 'node_modules', '.bin', 'node') : process.execPath;
  // Releases before had no bin/start.js.
  const platform = options.release ? ['src/main.ts'] : [...nodeOptions, 'bin/start.js'];
  const program = options.program ? [options.program] : platform;
  const child: ChildProcess = spawn(node, program, {
    cwd: from,
    env: env as NodeJS.ProcessEnv,
    stdio: ['ignore', 'pipe', 'pipe'],
    // Ctrl-C in the terminal reaches the tests, which then end it.
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout!, child.stderr!])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  let ended: Exit | null = null;
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      ended = { code, signal };
      watchdog.watch(null);
      resolve(ended);
    });
  });
  exited.catch(() => {});
  watchdog.watch(child.pid ?? null);

  const kill = (signal: NodeJS.Signals = 'SIGKILL'): Promise<Exit> => {
    if (!ended) child.kill(signal);
    return exited;
  };
  const stop = async () => {
    await kill('SIGKILL').catch(() => {});
    for (const folder of own) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    watchdog.release();
  };

  if (options.readyWithinMs !== null)
    try {
      await until(async () => ended || (await fetch(`${url}/readyz`)).ok, options.readyWithinMs ?? 60_000);
      if (ended) throw new Error(`it ended with ${JSON.stringify(ended)}`);
    } catch (error) {
      await stop();
      throw new Error(`the platform did not become ready: ${String(error)}\n${output.slice(-4_000)}`);
    }

  return {
    url,
    port,
    pid: child.pid!,
    dataDir,
    key: env.BOOTSTRAP_ADMIN_API_KEY!,
    exited,
    kill,
    output: () => output,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
