import { setTimeout as sleep } from 'node:timers/promises';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { int, type Random, seeded } from '../../../packages/cron/tests/random.ts';
import { startKafka } from '../../harness/kafka.ts';
import { startNats } from '../../harness/nats.ts';
import { until } from '../../harness/wait.ts';
import { Fixture, must } from './fixture.ts';

export type BrokerKind = 'nats' | 'kafka';

export interface BrokerKillsOptions {
  broker: BrokerKind;
  /** SIGKILLs, of the broker and of replicas. */
  kills: number;
  seed: number;
}

export interface BrokerKillsReport {
  kills: { broker: number; replica: number };
  /** Messages that the broker has. */
  messages: number;
  items: number;
  /** Deliveries of messages that were stored before. */
  repeated: number;
  /** The longest time from the return of a broker, or the kill of a replica, until the next message was stored, in ms. */
  longestPauseMs: number;
  problems: string[];
}

/** A broker with one source, which dies and returns. */
export interface Broker {
  connection: object;
  trigger: object;
  /** Publishes one message, again until the broker has it: it may then have it twice. */
  publish(value: string): Promise<void>;
  kill(): Promise<void>;
  start(): Promise<void>;
  /** What the broker has, as the ids of its events. */
  messageIds(): Promise<string[]>;
  close(): Promise<void>;
}

const tls = { mode: 'disable' };

export const openNats = async (): Promise<Broker> => {
  const nats = await startNats();
  const connection = await connect({
    servers: nats.url,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 50,
    pingInterval: 1_000,
  });
  const manager = await jetstreamManager(connection);
  await manager.streams.add({ name: 'S', subjects: ['s'] });
  const client = jetstream(connection, { timeout: 1_000 });
  return {
    connection: { kind: 'nats', settings: { servers: [`127.0.0.1:${nats.port}`], tls } },
    trigger: { kind: 'nats', settings: { stream: 'S', start: 'all' } },
    publish: async (value) => {
      await until(() => client.publish('s', value).then(() => true), 60_000);
    },
    kill: () => nats.kill('SIGKILL'),
    start: () => nats.start(),
    messageIds: async () => {
      const { state } = await manager.streams.info('S');
      return Array.from({ length: state.last_seq }, (_, i) => String(i + 1));
    },
    close: async () => {
      await connection.close();
      await nats.stop();
    },
  };
};

export const openKafka = async (): Promise<Broker> => {
  const kafka = await startKafka();
  await kafka.admin.createTopics({ topics: ['t'], partitions: 3, replicas: 1 });
  return {
    connection: { kind: 'kafka', settings: { brokers: [kafka.address], tls } },
    trigger: { kind: 'kafka', settings: { topic: 't', start: 'earliest' } },
    publish: async (value) => {
      await until(() => kafka.send('t', [{ key: value, value }]).then(() => true), 60_000);
    },
    kill: () => kafka.kill('SIGKILL'),
    start: kafka.start,
    messageIds: async () => {
      const partitions = [0, 1, 2].map((partitionIndex) => ({ partitionIndex, timestamp: -1n }));
      const [listed] = await kafka.admin.listOffsets({ topics: [{ name: 't', partitions }] });
      return listed!.partitions.flatMap(({ partitionIndex, offset }) =>
        Array.from({ length: Number(offset) }, (_, i) => `${partitionIndex}/${i}`),
      );
    },
    close: kafka.stop,
  };
};

const replicas = 3;

/** Publishes with a short pause until it is told to stop. */
export class Publisher {
  readonly #broker: Broker;
  readonly #pauseMs: number;
  #stopped = false;
  #running: Promise<void>;
  published = 0;

  constructor(broker: Broker, pauseMs = 20) {
    this.#broker = broker;
    this.#pauseMs = pauseMs;
    this.#running = this.#run();
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      await this.#broker.publish(`{"n":${this.published}}`);
      this.published += 1;
      await sleep(this.#pauseMs);
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }
}

const stored = (at: Fixture): Promise<number> =>
  at.inspect(async (rows) => {
    const [row] = await rows<{ n: number }>('select count(*)::integer as n from trigger_events');
    return row!.n;
  });

/** Resolves to how long it took until another event was stored. */
const untilStored = async (at: Fixture): Promise<number> => {
  const begun = performance.now();
  const before = await stored(at);
  await until(async () => (await stored(at)) > before, 120_000);
  return performance.now() - begun;
};

const pickRunning = (at: Fixture, random: Random): number => {
  const running = at.replicas.flatMap(({ process }, i) => (process ? [i] : []));
  return running[int(random, 0, running.length - 1)]!;
};

/** What is wrong at the end: each message has one event and one Work Item, and counts agree. */
export const compare = async (
  at: Fixture,
  ids: readonly string[],
  triggerId: string,
): Promise<Omit<BrokerKillsReport, 'kills' | 'longestPauseMs'>> =>
  at.inspect(async (rows) => {
    const events = await rows<{ position: string; deliveries: number; outcome: string; items: number }>(
      `select e.position, e.deliveries, e.outcome,
         (select count(*)::integer from work_items w where w.occurrence_id = e.id) as items
       from trigger_events e where e.trigger_id = '${triggerId}'`,
    );
    const [{ items, repeated }] = (await rows<{ items: number; repeated: number }>(
      `select (select count(*)::integer from work_items where trigger_id = '${triggerId}') as items,
         (select coalesce(sum(count), 0)::integer from trigger_event_counts
           where outcome = 'repeated' and trigger_id = '${triggerId}') as repeated`,
    )) as [{ items: number; repeated: number }];
    const problems: string[] = [];
    const seen = new Set(events.map(({ position }) => position));
    for (const id of ids) if (!seen.has(id)) problems.push(`the message ${id} has no event`);
    if (events.length !== ids.length) problems.push(`${events.length} events of ${ids.length} messages`);
    for (const { position, outcome, items: own } of events) {
      if (outcome !== 'fired' || own !== 1)
        problems.push(`the message ${position} is ${outcome} with ${own} Work Items`);
    }
    if (items !== ids.length) problems.push(`${items} Work Items of ${ids.length} messages`);
    const further = events.reduce((sum, { deliveries }) => sum + deliveries - 1, 0);
    if (further !== repeated)
      problems.push(`${further} further deliveries in the ledger, ${repeated} counted`);
    return { messages: ids.length, items, repeated, problems };
  });

/**
 * Three replicas read a broker while someone publishes without a pause. Broker and replicas are killed in turn by SIGKILL
 * and return; once a turn everything is killed. At the end each message must have exactly one Work Item.
 */
export const runBrokerKills = async ({
  broker: kind,
  kills,
  seed,
}: BrokerKillsOptions): Promise<BrokerKillsReport> => {
  const random = seeded(seed);
  const broker = await (kind === 'nats' ? openNats() : openKafka());
  await using at = await Fixture.open('postgres', replicas);
  try {
    await Promise.all(at.replicas.map((_, i) => at.start(i)));
    const api = at.api();
    const agent = await must(api.post('/agents', { name: 'a', mode: 'worker', execution: 'external' }));
    const connection = await must(api.post('/event-connections', { name: 'b', ...broker.connection }));
    const { settings, ...fields } = broker.trigger as { settings: object };
    const trigger = await must(
      api.post(`/agents/${agent.id}/triggers`, {
        name: 't',
        ...fields,
        settings: { ...settings, connection_id: connection.id },
      }),
    );
    const publisher = new Publisher(broker);
    await untilStored(at);
    const report = { kills: { broker: 0, replica: 0 }, longestPauseMs: 0 };
    while (report.kills.broker + report.kills.replica < kills) {
      await sleep(int(random, 50, 1_500));
      const chance = int(random, 0, 2);
      const replica = pickRunning(at, random);
      if (chance > 0) {
        await at.kill(replica);
        report.kills.replica += 1;
      }
      if (chance < 2) {
        await broker.kill();
        report.kills.broker += 1;
        await broker.start();
      }
      report.longestPauseMs = Math.max(report.longestPauseMs, Math.round(await untilStored(at)));
      if (chance > 0) await at.start(replica);
    }
    await publisher.stop();
    const ids = await broker.messageIds();
    await until(async () => (await stored(at)) >= ids.length, 120_000);
    // What comes again has come: JetStream delivers after 30 s, Kafka after the last assignment.
    await sleep(1_000);
    return { ...report, ...(await compare(at, ids, trigger.id!)) };
  } finally {
    await broker.close();
  }
};
