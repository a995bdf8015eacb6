import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { NatsAddress } from '@agent-platform/otlp/jetstream';
import { describe } from 'vitest';
import { findProgram, skipNote } from './programs.ts';
import { newServer, onFreePort } from './server.ts';

export interface Nats extends AsyncDisposable {
  /** `nats://127.0.0.1:PORT` */
  readonly url: string;
  /** The address of a stream on it. */
  address(stream: string): NatsAddress;
  readonly port: number;
  /** The folder in which it keeps its streams. */
  readonly storage: string;
  /** The process id of the server; null while it does not run. */
  readonly pid: number | null;
  /** Sends the server a signal and waits until it has ended. */
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Starts it again on the same port and data. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface NatsOptions {
  /** More lines for the block `jetstream` of its configuration. */
  jetstream?: string;
  /** Largest message; the server's default is 1 MiB. */
  maxPayload?: string;
  /** The block `authorization` of its configuration; without it anyone may connect. */
  authorization?: string;
  /** The block `cluster` of its configuration, and the name by which the others know it. */
  cluster?: { name: string; lines: string };
  /** Only over TLS, with this key and certificate (PEM). */
  tls?: { key: string; cert: string };
}

/** 2.10 was the first with `sync_interval`; Debian 12 has an older one. */
const isNewEnough = (server: string): boolean => {
  const [major = 0, minor = 0] =
    /v(\d+)\.(\d+)/
      .exec(spawnSync(server, ['--version'], { encoding: 'utf8' }).stdout ?? '')
      ?.slice(1)
      .map(Number) ?? [];
  return major > 2 || (major === 2 && minor >= 10);
};

const found = findProgram('nats-server');
const program = found && isNewEnough(found) ? found : null;
export const natsNote = program ? null : 'no nats-server 2.10 or newer';

/** Tests that need a nats-server. If the machine has none, they are skipped, with the reason in their name. */
export const describeWithNats = (name: string, tests: () => void): void => {
  describe.skipIf(natsNote !== null)(`${name}${skipNote(natsNote)}`, tests);
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

/** Starts a real nats-server with JetStream, on a free port of 127.0.0.1. It never outlives this process. */
export async function startNats(options: NatsOptions = {}): Promise<Nats> {
  const server = await newServer('nats-server');
  const config = join(server.base, 'nats.conf');
  const storage = join(server.base, 'data');
  let port = 0;
  const start = () =>
    server.start({
      command: program!,
      args: ['-c', config, '-a', '127.0.0.1', '-p', String(port)],
      isReady: () => listens(port),
      withinMs: 20_000,
    });
  const stop = () => server.stop('SIGKILL');
  try {
    await writeConfig(config, storage, options);
    await onFreePort((free) => {
      port = free;
      return start();
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: `nats://127.0.0.1:${port}`,
    address: (stream) => ({ servers: [`127.0.0.1:${port}`], stream }),
    port,
    storage,
    get pid() {
      return server.pid;
    },
    kill: server.kill,
    start,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

const writeConfig = async (
  path: string,
  storage: string,
  { jetstream = '', maxPayload, authorization, cluster, tls }: NatsOptions,
): Promise<void> => {
  const lines = [`jetstream { store_dir: "${storage}", sync_interval: always\n${jetstream} }`];
  if (maxPayload !== undefined) lines.push(`max_payload: ${maxPayload}`);
  if (authorization !== undefined) lines.push(`authorization { ${authorization} }`);
  if (cluster !== undefined) lines.push(`server_name: ${cluster.name}`, `cluster { ${cluster.lines} }`);
  if (tls !== undefined) {
    const [cert, key] = [`${path}.cert`, `${path}.key`];
    await writeFile(cert, tls.cert);
    await writeFile(key, tls.key);
    lines.push(`tls { cert_file: "${cert}", key_file: "${key}" }`);
  }
  await writeFile(path, lines.join('\n'));
};
