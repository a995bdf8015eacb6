import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';
import { until } from './wait.ts';
import { freePort, startWatchdog } from './watchdog.ts';

export interface Nats extends AsyncDisposable {
  /** `nats://127.0.0.1:PORT`; a stream's name may be put behind it. */
  readonly url: string;
  readonly port: number;
  /** The folder in which it keeps its streams. */
  readonly storage: string;
  /** The process id of the server; null while it does not run. */
  readonly pid: number | null;
  /** Sends the server a signal and waits until it is gone. */
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Starts it again on the same port and data. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface NatsOptions {
  /** What stands in the block `jetstream` of its configuration beside the folder. */
  jetstream?: string;
  /** Largest message; the server's default is 1 MiB. */
  maxPayload?: string;
  /** Who may connect; anybody unless given. */
  token?: string;
  /** Only over TLS, with this key and certificate (PEM). */
  tls?: { key: string; cert: string };
}

const installed = spawnSync('nats-server', ['--version']).status === 0;

/** The tests that need a nats-server, which the machine may not have; skipped then, with the reason in their name. */
export const describeWithNats = (name: string, tests: () => void): void => {
  if (installed) describe(name, tests);
  else describe.skip(`${name} (skipped: no nats-server in PATH; .ci/run says how to get one)`, tests);
};

const listens = (port: number): Promise<true> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.setTimeout(1_000, () => socket.destroy(new Error('silent')));
    socket.once('error', reject);
    // The server speaks first: INFO.
    socket.once('data', () => {
      socket.destroy();
      resolve(true);
    });
  });

/** Starts a real nats-server with JetStream in a temporary folder, on a free port of 127.0.0.1. It never outlives this process. */
export async function startNats(options: NatsOptions = {}): Promise<Nats> {
  const base = await mkdtemp(join(tmpdir(), 'ap-nats-'));
  const watchdog = startWatchdog([base]);
  const port = await freePort();
  const config = join(base, 'nats.conf');
  const storage = join(base, 'data');
  const [key, cert] = [join(base, 'key.pem'), join(base, 'cert.pem')];
  if (options.tls) {
    await writeFile(key, options.tls.key);
    await writeFile(cert, options.tls.cert);
  }
  await writeFile(
    config,
    [
      `listen: "127.0.0.1:${port}"`,
      options.token === undefined ? '' : `authorization { token: "${options.token}" }`,
      options.tls === undefined ? '' : `tls { cert_file: "${cert}", key_file: "${key}" }`,
      options.maxPayload === undefined ? '' : `max_payload: ${options.maxPayload}`,
      `jetstream { store_dir: "${storage}", sync_interval: always\n${options.jetstream ?? ''} }`,
    ].join('\n'),
  );
  let server: ChildProcess | null = null;

  const start = async (): Promise<void> => {
    const output = openSync(join(base, 'server.log'), 'a');
    const child = spawn('nats-server', ['-c', config], { stdio: ['ignore', output, output], detached: true });
    closeSync(output);
    child.once('exit', () => {
      if (server === child) server = null;
      watchdog.watch(null);
    });
    await once(child, 'spawn');
    server = child;
    watchdog.watch(child.pid!);
    await until(() => server !== child || listens(port), 20_000);
    if (server !== child)
      throw new Error(`nats-server did not start: ${await readFile(join(base, 'server.log'), 'utf8')}`);
  };

  const kill = async (signal: NodeJS.Signals): Promise<void> => {
    const running = server;
    if (!running) return;
    const gone = once(running, 'exit');
    running.kill(signal);
    await gone;
  };

  const stop = async (): Promise<void> => {
    await kill('SIGKILL');
    await rm(base, { recursive: true, force: true, maxRetries: 5 });
    watchdog.release();
  };

  try {
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    storage,
    get pid() {
      return server?.pid ?? null;
    },
    kill,
    start,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
