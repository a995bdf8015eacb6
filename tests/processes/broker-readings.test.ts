import { type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, headers, type NatsConnection } from '@nats-io/transport-node';
import { Producer, stringSerializers } from '@platformatic/kafka';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { KafkaSource, NatsSource } from '../../src/event-connections/index.ts';
import { describeWithKafka, type Kafka, startKafka } from '../harness/kafka.ts';
import { describeWithNats, type Nats, startNats } from '../harness/nats.ts';
import { readingsOf, TakenMessages } from '../harness/reading.ts';
import { until } from '../harness/wait.ts';

const numbers = (from: number, count: number) => Array.from({ length: count }, (_, i) => String(from + i));
const sorted = (bodies: readonly string[]) => [...bodies].sort((a, b) => Number(a) - Number(b));

describeWithKafka('readings of Kafka', () => {
  let kafka: Kafka;
  let readings: ReturnType<typeof readingsOf>;
  let topics = 0;
  beforeAll(async () => {
    kafka = await startKafka();
    readings = readingsOf('kafka', { brokers: [kafka.address], tls: { mode: 'disable' } });
  });
  afterEach(() => readings.close());
  afterAll(() => kafka?.stop());

  const newTopic = async (partitions = 1): Promise<KafkaSource> => {
    const topic = `topic-${++topics}`;
    await kafka.admin.createTopics({ topics: [topic], partitions, replicas: 1 });
    return { kind: 'kafka', topic, group: `group-${topics}`, start: 'latest' };
  };
  const send = (topic: string, values: readonly string[], partition?: number) =>
    kafka.send(
      topic,
      values.map((value) => ({ value, ...(partition === undefined ? {} : { partition }) })),
    );

  test('`latest` begins with what comes after it, in order, and a later reading goes on from there', async () => {
    const source = await newTopic();
    await send(source.topic, ['old']);
    const taken = new TakenMessages();
    const first = await readings.begin(source, taken);
    await kafka.send(source.topic, [{ key: 'k', value: '{"n":1}', headers: { CE_Type: 't', b: 'é' } }]);
    await until(() => taken.messages.length === 1);
    expect(taken.messages[0]).toMatchObject({
      identity: expect.stringMatching(/^[0-9a-f-]{36} 0 1$/),
      eventId: '0/1',
      type: null,
      source: source.topic,
      subject: 'k',
      time: expect.stringMatching(/^\d{4}-/),
      headers: { ce_type: 't', b: 'é' },
      body: Buffer.from('{"n":1}'),
    });
    await first.close();
    await send(source.topic, numbers(0, 1_200));
    await readings.begin(source, taken);
    await until(() => taken.messages.length === 1_201);
    expect(taken.bodies.slice(1)).toEqual(numbers(0, 1_200));
    expect([...taken.deliveries.values()].every((times) => times === 1)).toBe(true);
  });

  test('`earliest` is shared by readings, each message once, and a partition that is added is read from its start', async () => {
    const source = { ...(await newTopic(2)), start: 'earliest' } as const;
    await send(source.topic, numbers(0, 300), 0);
    await send(source.topic, numbers(300, 300), 1);
    const taken = new TakenMessages();
    await readings.begin(source, taken);
    await until(() => taken.messages.length === 600);
    const second = await readings.begin(source, taken);
    await kafka.admin.createPartitions({
      topics: [{ name: source.topic, count: 3, assignments: [{ brokerIds: [1] }] }],
      validateOnly: false,
    });
    kafka.producer.clearMetadata();
    await send(source.topic, numbers(600, 100), 2);
    await until(() => taken.messages.length === 700, 40_000);
    expect(sorted(taken.bodies)).toEqual(numbers(0, 700));
    await until(() => second.status().positions.length === 3 && second.status().lag === 0);
    expect(second.status()).toMatchObject({
      state: 'ok',
      blocked: null,
      last_error: null,
      positions: [
        { partition: 0, next: 300, end: 300 },
        { partition: 1, next: 300, end: 300 },
        { partition: 2, next: 100, end: 100 },
      ],
    });
  });

  test('what could not be stored is offered again, and nothing is skipped', async () => {
    const source = { ...(await newTopic()), start: 'earliest' } as const;
    await send(source.topic, numbers(0, 700));
    const taken = new TakenMessages();
    taken.isAway = true;
    const reading = await readings.begin(source, taken).catch(() => null);
    await until(() => reading === null || reading.status().state === 'failing');
    await readings.close();
    const again = readings.read(source, taken);
    await until(() => again.status().state === 'failing');
    expect(again.status().last_error).toMatch(/could not be stored/);
    taken.isAway = false;
    await until(() => taken.messages.length === 700);
    expect(taken.bodies).toEqual(numbers(0, 700));
    expect(again.status().state).toBe('ok');
  });

  test('dropped offsets are lost once, and reading goes on at the first that is left', async () => {
    const source = { ...(await newTopic()), start: 'earliest' } as const;
    await send(source.topic, numbers(0, 10));
    const taken = new TakenMessages();
    const first = await readings.begin(source, taken);
    await until(() => taken.messages.length === 10);
    await first.close();
    await send(source.topic, numbers(10, 10));
    await kafka.admin.deleteRecords({
      topics: [{ name: source.topic, partitions: [{ partition: 0, offset: 15n }] }],
    });
    await readings.begin(source, taken);
    await until(() => taken.messages.length === 15);
    expect(taken.bodies).toEqual([...numbers(0, 10), ...numbers(15, 5)]);
    expect(taken.lostRanges).toEqual([{ sourceId: taken.memory!.sourceId, partition: 0, from: 10, to: 14 }]);
  });

  test('a topic that is missing blocks, and one that is made again is read by `start`', async () => {
    const source = { kind: 'kafka', topic: 'later', group: 'later', start: 'earliest' } as const;
    /** Makes the topic. The broker knows of it a moment after it confirmed it. */
    const newLater = async (): Promise<void> => {
      await kafka.admin.createTopics({ topics: ['later'], partitions: 1, replicas: 1 });
      await until(async () => (await kafka.admin.listTopics({})).includes('later'));
    };
    const taken = new TakenMessages();
    const reading = readings.read(source, taken);
    await until(() => reading.status().blocked !== null);
    expect(reading.status().blocked).toMatch(/There is no topic later/);
    await newLater();
    await send('later', numbers(0, 3));
    await until(() => taken.messages.length === 3, 30_000);
    expect(reading.status()).toMatchObject({ state: 'ok', blocked: null });

    const before = taken.memory!.sourceId;
    await kafka.admin.deleteTopics({ topics: ['later'] });
    await until(async () => !(await kafka.admin.listTopics({})).includes('later'));
    await newLater();
    await send('later', numbers(3, 3));
    await until(() => taken.messages.length === 6, 60_000);
    expect(taken.bodies).toEqual(numbers(0, 6));
    expect(taken.memory!.sourceId).not.toBe(before);
  });

  test('positions that the group has lost are those that were kept', async () => {
    const source = await newTopic();
    const taken = new TakenMessages();
    const first = await readings.begin(source, taken);
    await send(source.topic, numbers(0, 5));
    await until(() => taken.messages.length === 5);
    await until(() => first.status().positions[0]?.next === 5);
    taken.memory = { sourceId: first.status().sourceId!, positions: first.status().positions };
    await first.close();
    await send(source.topic, numbers(5, 5));
    await kafka.admin.deleteGroups({ groups: [source.group] });
    await readings.begin(source, taken);
    await until(() => taken.messages.length === 10);
    expect(taken.bodies).toEqual(numbers(0, 10));
    expect(Math.max(...taken.deliveries.values())).toBe(1);
  });

  test('records of aborted transactions are no messages', async () => {
    const source = { ...(await newTopic()), start: 'earliest' } as const;
    const producer = new Producer<string, string, string, string>({
      clientId: 'transactions',
      bootstrapBrokers: [kafka.address],
      serializers: stringSerializers,
      idempotent: true,
      transactionalId: 'transactions',
    });
    for (const [i, ends] of ['commit', 'abort', 'abort', 'commit', 'abort'].entries()) {
      const transaction = await producer.beginTransaction();
      await transaction.send({ messages: [{ topic: source.topic, value: String(i) }] });
      await (ends === 'commit' ? transaction.commit() : transaction.abort());
    }
    await producer.close();
    const taken = new TakenMessages();
    const reading = await readings.begin(source, taken);
    await until(() => reading.status().positions.length > 0 && taken.messages.length === 2);
    await send(source.topic, ['5']);
    await until(() => taken.messages.length === 3);
    expect(taken.bodies).toEqual(['0', '3', '5']);
  });

  test('after kill -9 of the broker reading goes on', async () => {
    const source = await newTopic(2);
    const taken = new TakenMessages();
    const reading = await readings.begin(source, taken);
    await send(source.topic, numbers(0, 100));
    await until(() => taken.messages.length === 100);
    await kafka.kill('SIGKILL');
    await until(() => reading.status().state === 'failing');
    expect(reading.status().last_error).toMatch(/broker/);
    await kafka.start();
    const isBack = performance.now();
    await send(source.topic, numbers(100, 100));
    await until(() => taken.messages.length === 200, 30_000);
    expect(performance.now() - isBack).toBeLessThan(15_000);
    expect(sorted(taken.bodies)).toEqual(numbers(0, 200));
  });
});

describeWithNats('readings of JetStream', () => {
  let nats: Nats;
  let connection: NatsConnection;
  let manager: JetStreamManager;
  let readings: ReturnType<typeof readingsOf>;
  let streams = 0;
  beforeAll(async () => {
    nats = await startNats();
    connection = await connect({ servers: nats.url, maxReconnectAttempts: -1, reconnectTimeWait: 50 });
    manager = await jetstreamManager(connection);
    readings = readingsOf('nats', { servers: [`127.0.0.1:${nats.port}`], tls: { mode: 'disable' } });
  });
  afterEach(() => readings.close());
  afterAll(async () => {
    await connection?.close();
    await nats?.stop();
  });

  const newStream = async (more: Partial<NatsSource> = {}): Promise<NatsSource> => {
    const stream = `s${++streams}`;
    await manager.streams.add({ name: stream, subjects: [`${stream}.>`] });
    return {
      kind: 'nats',
      stream,
      subjects: null,
      start: 'new',
      consumer: `c${streams}`,
      isOwn: true,
      ...more,
    };
  };
  const send = async (subject: string, values: readonly string[], given?: Record<string, string>) => {
    const client = jetstream(connection);
    const all = headers();
    for (const [name, value] of Object.entries(given ?? {})) all.set(name, value);
    for (const value of values) await client.publish(subject, value, given ? { headers: all } : {});
  };

  test('`new` begins with what comes after it, in order, and a later reading goes on from there', async () => {
    const source = await newStream();
    await send(`${source.stream}.a`, ['old']);
    const taken = new TakenMessages();
    const first = await readings.begin(source, taken);
    await send(`${source.stream}.b`, ['{"n":1}'], { 'CE-Type': 't', b: 'é' });
    await until(() => taken.messages.length === 1);
    const { created } = await manager.streams.info(source.stream);
    expect(taken.messages[0]).toMatchObject({
      identity: `${created} 2`,
      eventId: '2',
      type: `${source.stream}.b`,
      source: source.stream,
      subject: null,
      time: expect.stringMatching(/^\d{4}-/),
      headers: { 'ce-type': 't', b: 'é' },
      body: Buffer.from('{"n":1}'),
    });
    await first.close();
    await send(`${source.stream}.c`, numbers(0, 1_200));
    const second = await readings.begin(source, taken);
    await until(() => taken.messages.length === 1_201);
    expect(taken.bodies.slice(1)).toEqual(numbers(0, 1_200));
    expect(Math.max(...taken.deliveries.values())).toBe(1);
    await until(() => second.status().lag === 0);
    expect(second.status()).toMatchObject({
      state: 'ok',
      last_read_at: expect.any(Date),
      positions: [{ partition: null, next: 1_203, end: 1_203 }],
    });
  });

  test('readings share a stream, and subjects are chosen and can change', async () => {
    const source = await newStream({ start: 'all', subjects: ['s2.a', 's2.b'] });
    const { stream } = source;
    expect(stream).toBe('s2');
    await send(`${stream}.a`, numbers(0, 300));
    await send(`${stream}.b`, numbers(300, 300));
    await send(`${stream}.c`, ['other']);
    const taken = new TakenMessages();
    await Promise.all([readings.begin(source, taken), readings.begin(source, taken)]);
    await until(() => taken.messages.length === 600);
    expect(sorted(taken.bodies)).toEqual(numbers(0, 600));
    expect(Math.max(...taken.deliveries.values())).toBe(1);
    await readings.close();
    await readings.begin({ ...source, subjects: ['s2.c'] }, taken);
    await send(`${stream}.c`, ['601']);
    await until(() => taken.bodies.includes('601'));
  });

  test('what could not be stored is offered again, and what a reading left is read by the next at once', async () => {
    const source = await newStream({ start: 'all' });
    await send(`${source.stream}.a`, numbers(0, 100));
    const taken = new TakenMessages();
    taken.isAway = true;
    const reading = readings.read(source, taken);
    await until(() => reading.status().state === 'failing');
    await readings.close();
    taken.isAway = false;
    await readings.begin(source, taken);
    await until(() => taken.messages.length === 100);
    expect(sorted(taken.bodies)).toEqual(numbers(0, 100));
  });

  test('a stream that is missing blocks, and one that is made again is read by `start`', async () => {
    const source = { ...(await newStream({ start: 'all' })), stream: 'later' } as const;
    const taken = new TakenMessages();
    const reading = readings.read(source, taken);
    await until(() => reading.status().blocked !== null);
    expect(reading.status().blocked).toBe('There is no stream later.');
    const add = () => manager.streams.add({ name: 'later', subjects: ['later'] });
    await add();
    await send('later', numbers(0, 3));
    await until(() => taken.messages.length === 3, 30_000);
    expect(reading.status()).toMatchObject({ state: 'ok', blocked: null });
    await manager.streams.delete('later');
    await add();
    await send('later', numbers(3, 3));
    await until(() => taken.messages.length === 6, 30_000);
    expect(taken.bodies).toEqual(numbers(0, 6));
  });

  test('a consumer that is gone is made again at the position that was kept', async () => {
    const source = await newStream();
    const taken = new TakenMessages();
    const reading = await readings.begin(source, taken);
    await send(`${source.stream}.a`, numbers(0, 5));
    await until(() => reading.status().positions[0]?.next === 6);
    taken.memory = { sourceId: reading.status().sourceId!, positions: reading.status().positions };
    await reading.close();
    await send(`${source.stream}.a`, numbers(5, 5));
    await manager.consumers.delete(source.stream, source.consumer);
    await readings.begin(source, taken);
    await until(() => taken.messages.length === 10);
    expect(taken.bodies).toEqual(numbers(0, 10));
    expect(Math.max(...taken.deliveries.values())).toBe(1);
    await readings.close();
    await readings.connection.deleteConsumer(source);
    await readings.connection.deleteConsumer(source);
    expect((await manager.streams.info(source.stream)).state.consumer_count).toBe(0);
  });

  test('a consumer of someone else that does not fit blocks', async () => {
    const source = await newStream({ isOwn: false });
    await manager.consumers.add(source.stream, { durable_name: source.consumer, ack_policy: 'none' });
    const reading = readings.read(source, new TakenMessages());
    await until(() => reading.status().blocked !== null);
    expect(reading.status().blocked).toMatch(/ack_policy must be explicit/);
  });

  test('after kill -9 of the server reading goes on', async () => {
    const source = await newStream();
    const taken = new TakenMessages();
    const reading = await readings.begin(source, taken);
    await send(`${source.stream}.a`, numbers(0, 100));
    await until(() => taken.messages.length === 100);
    await nats.kill('SIGKILL');
    await until(() => reading.status().state === 'failing');
    await nats.start();
    const isBack = performance.now();
    await until(() => !connection.isClosed());
    await until(() => send(`${source.stream}.a`, ['100']).then(() => true));
    await send(`${source.stream}.a`, numbers(101, 99));
    await until(() => taken.messages.length >= 200, 30_000);
    expect(performance.now() - isBack).toBeLessThan(15_000);
    expect([...new Set(sorted(taken.bodies))]).toEqual(numbers(0, 200));
  });

  test('a user needs what the documents say, and one with less is told what is missing', async () => {
    const needed = [
      '$JS.API.STREAM.INFO.P',
      '$JS.API.CONSUMER.*.P.>',
      '$JS.API.CONSUMER.MSG.NEXT.P.>',
      '$JS.ACK.P.>',
    ];
    const user = (name: string, publish: readonly string[]) =>
      `{ user: ${name}, password: p, permissions: { publish: ${JSON.stringify(publish)}, subscribe: "_INBOX.>" } }`;
    await using server = await startNats({
      authorization: `users: [{ user: admin, password: p }, ${user('right', needed)}, ${user('wrong', needed.slice(0, 1))}, ${user('blind', ['x'])}]`,
    });
    const admin = await connect({ servers: server.url, user: 'admin', pass: 'p' });
    await (await jetstreamManager(admin)).streams.add({ name: 'P', subjects: ['p'] });
    const source = {
      kind: 'nats',
      stream: 'P',
      subjects: null,
      start: 'all',
      consumer: 'c',
      isOwn: true,
    } as const;
    const of = (username: string) =>
      readingsOf('nats', {
        servers: [`127.0.0.1:${server.port}`],
        tls: { mode: 'disable' },
        username,
        password: 'p',
      });
    for (const name of ['wrong', 'blind']) {
      const refused = of(name);
      const reading = refused.read(source, new TakenMessages());
      await until(() => reading.status().blocked !== null);
      expect(reading.status().blocked).toBe('The user may not read the stream P with the consumer c.');
      await refused.close();
    }
    const right = of('right');
    const taken = new TakenMessages();
    await right.begin(source, taken);
    await jetstream(admin).publish('p', '1');
    await until(() => taken.messages.length === 1);
    await right.close();
    await admin.close();
  });
});
