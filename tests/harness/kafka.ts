import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Admin, Producer } from '@platformatic/kafka';
import { describe } from 'vitest';
import { findProgram, skipNote } from './programs.ts';
import { newServer } from './server.ts';
import { freePort } from './watchdog.ts';

export interface Kafka extends AsyncDisposable {
  /** `127.0.0.1:PORT` */
  readonly address: string;
  readonly admin: Admin;
  readonly producer: Producer<Buffer, Buffer, Buffer, Buffer>;
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Starts it again on the same ports and data. */
  start(): Promise<void>;
  stop(): Promise<void>;
  send(topic: string, messages: readonly KafkaMessage[]): Promise<void>;
}

export interface KafkaMessage {
  partition?: number;
  key?: string;
  value: string | Buffer;
  headers?: Record<string, string>;
}

export interface KafkaOptions {
  /** Connections of clients need SASL `plain` or `scram-sha-256` with a user `reader`; those of tests go elsewhere. */
  sasl?: { username: string; password: string };
  /** Keystore for TLS of the listener of clients (PEM). */
  tls?: { key: string; cert: string };
  /** The address that clients are told to use, instead of where it listens. */
  advertised?: string;
}

const jars = join(import.meta.dirname, '..', '..', '.parts', 'kafka');
const hasJars = (): boolean => {
  try {
    return readdirSync(jars).some((name) => /^kafka_2\.13-.*\.jar$/.test(name));
  } catch {
    return false;
  }
};
const java = findProgram('java');
export const kafkaNote = java === null ? 'no Java' : hasJars() ? null : 'no Kafka';

/** Tests that need a broker of Kafka. If the machine has none, they are skipped, with the reason in their name. */
export const describeWithKafka = (name: string, tests: () => void): void => {
  describe.skipIf(kafkaNote !== null)(`${name}${skipNote(kafkaNote)}`, tests);
};

const classpath = `${jars}/*`;
const run = promisify(execFile);

const listens = (port: number): Promise<true> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });

const properties = (
  { sasl, tls, advertised }: KafkaOptions,
  ports: { inner: number; controller: number; outer: number },
  data: string,
): string => {
  const isOpen = !sasl && !tls && !advertised;
  const outerProtocol = `${sasl ? 'SASL_' : ''}${tls ? 'SSL' : 'PLAINTEXT'}`;
  const listeners = [`INNER://127.0.0.1:${ports.inner}`, `CONTROLLER://127.0.0.1:${ports.controller}`];
  const names = ['INNER:PLAINTEXT', 'CONTROLLER:PLAINTEXT'];
  const told = [`INNER://127.0.0.1:${ports.inner}`];
  if (!isOpen) {
    listeners.push(`OUTER://127.0.0.1:${ports.outer}`);
    names.push(`OUTER:${outerProtocol}`);
    told.push(`OUTER://${advertised ?? `127.0.0.1:${ports.outer}`}`);
  }
  const lines = [
    'process.roles=broker,controller',
    'node.id=1',
    `controller.quorum.voters=1@127.0.0.1:${ports.controller}`,
    `listeners=${listeners.join(',')}`,
    `advertised.listeners=${told.join(',')}`,
    `listener.security.protocol.map=${names.join(',')}`,
    'inter.broker.listener.name=INNER',
    'controller.listener.names=CONTROLLER',
    `log.dirs=${data}`,
    'offsets.topic.replication.factor=1',
    'offsets.topic.num.partitions=2',
    'transaction.state.log.replication.factor=1',
    'transaction.state.log.min.isr=1',
    'transaction.state.log.num.partitions=2',
    'group.initial.rebalance.delay.ms=0',
    'auto.create.topics.enable=false',
    'log.cleaner.enable=false',
    'num.network.threads=2',
    'num.io.threads=2',
    'message.max.bytes=4000000',
  ];
  if (sasl) {
    const user = `org.apache.kafka.common.security.plain.PlainLoginModule required user_${sasl.username}="${sasl.password}";`;
    lines.push(
      'sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256',
      `listener.name.outer.plain.sasl.jaas.config=${user}`,
      'listener.name.outer.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;',
    );
  }
  if (tls) {
    const pem = (text: string) => text.trim().replaceAll('\n', ' \\\n');
    lines.push(
      'listener.name.outer.ssl.keystore.type=PEM',
      `listener.name.outer.ssl.keystore.key=${pem(tls.key)}`,
      `listener.name.outer.ssl.keystore.certificate.chain=${pem(tls.cert)}`,
    );
  }
  return lines.join('\n');
};

/** Starts a real broker on free ports of 127.0.0.1, in about 8 s. It never outlives this process. */
export const startKafka = async (options: KafkaOptions = {}): Promise<Kafka> => {
  const server = await newServer('kafka');
  const config = join(server.base, 'server.properties');
  const ports = { inner: await freePort(), controller: await freePort(), outer: await freePort() };
  await writeFile(config, properties(options, ports, join(server.base, 'data')));
  const scram = options.sasl
    ? ['--add-scram', `SCRAM-SHA-256=[name=${options.sasl.username},password=${options.sasl.password}]`]
    : [];
  const cluster = 'AAAAAAAAAAAAAAAAAAAAAA';
  const tool = ['-cp', classpath, 'kafka.tools.StorageTool', 'format', '-t', cluster, '-c', config, ...scram];
  await run(java!, ['-XX:TieredStopAtLevel=1', ...tool]);
  const start = () =>
    server.start({
      command: java!,
      args: ['-Xmx384m', '-XX:TieredStopAtLevel=1', '-cp', classpath, 'kafka.Kafka', config],
      isReady: () => listens(ports.inner),
      withinMs: 90_000,
    });
  await start();
  const inner = {
    clientId: 'tests',
    bootstrapBrokers: [`127.0.0.1:${ports.inner}`],
    retries: 20,
    retryDelay: 250,
  };
  const admin = new Admin(inner);
  const producer = new Producer<Buffer, Buffer, Buffer, Buffer>(inner);
  admin.on('error', () => {});
  producer.on('error', () => {});
  // It listens before it serves.
  await admin.listTopics({});
  const stop = async () => {
    await Promise.all([admin.close(), producer.close()]).catch(() => {});
    await server.stop('SIGKILL');
  };
  const isOpen = Object.keys(options).length === 0;
  return {
    address: `127.0.0.1:${isOpen ? ports.inner : ports.outer}`,
    admin,
    producer,
    kill: server.kill,
    start: async () => {
      await start();
      await admin.listTopics({});
    },
    stop,
    send: async (topic, messages) => {
      await producer.send({
        messages: messages.map(({ partition, key, value, headers = {} }) => ({
          topic,
          ...(partition === undefined ? {} : { partition }),
          ...(key === undefined ? {} : { key: Buffer.from(key) }),
          value: Buffer.from(value),
          headers: new Map(
            Object.entries(headers).map(([name, text]) => [Buffer.from(name), Buffer.from(text)]),
          ),
        })),
        acks: -1,
      });
    },
    [Symbol.asyncDispose]: stop,
  };
};
