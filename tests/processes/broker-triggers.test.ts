import { type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, headers, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectError, type Fixture, newAgent, ok, setSettings, withPlatform } from '../contract/fixture.ts';
import { eventsOf, itemsOf, newTrigger } from '../contract/triggers-fixture.ts';
import { testedDatabases } from '../harness/database.ts';
import { describeWithKafka, type Kafka, startKafka } from '../harness/kafka.ts';
import { describeWithNats, type Nats, startNats } from '../harness/nats.ts';
import { until } from '../harness/wait.ts';

const tls = { mode: 'disable' };
// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;
const read = (at: Fixture, { agent_id, id }: Json): Promise<Json> =>
  ok(at.api.get(`/agents/${agent_id}/triggers/${id}`));
const isRead = (at: Fixture, trigger: Json) =>
  until(async () => (await read(at, trigger)).reading?.state === 'ok', 20_000);
const newAgentOutside = (at: Fixture) => newAgent(at, { execution: 'external' });

describeWithNats('triggers of JetStream', () => {
  let nats: Nats;
  let connection: NatsConnection;
  let manager: JetStreamManager;
  let streams = 0;
  beforeAll(async () => {
    nats = await startNats({ maxPayload: '2MB' });
    connection = await connect({ servers: nats.url });
    manager = await jetstreamManager(connection);
  });
  afterAll(async () => {
    await connection?.close();
    await nats?.stop();
  });

  const publish = (stream: string, body: string, given: Record<string, string> = {}) => {
    const all = headers();
    for (const [name, value] of Object.entries(given)) all.set(name, value);
    return jetstream(connection).publish(`${stream}.a`, body, { headers: all });
  };

  for (const database of testedDatabases) {
    withPlatform(database, (at) => {
      let connectionId: string;
      beforeAll(async () => {
        const settings = { servers: [`127.0.0.1:${nats.port}`], tls };
        const created = at().api.post('/event-connections', { name: 'nats', kind: 'nats', settings });
        connectionId = (await ok(created)).id;
      });
      const newStream = async (): Promise<string> => {
        const stream = `${database}${++streams}`;
        await manager.streams.add({ name: stream, subjects: [`${stream}.>`] });
        return stream;
      };
      const create = async (stream: string, more: object = {}) =>
        newTrigger(at(), (await newAgentOutside(at())).id, {
          kind: 'nats',
          settings: { connection_id: connectionId, stream, start: 'all' },
          mapping: { message: '{{ event.type }}' },
          ...more,
        });

      test(`${database}: each message is an event with its attributes, also one that cannot be read`, async () => {
        await setSettings(at(), { MAX_EVENT_SIZE_IN_KB: 1 });
        const stream = await newStream();
        await publish(stream, '{"n":1}');
        await publish(stream, '{"broken"');
        await publish(stream, JSON.stringify('x'.repeat(1_100)));
        const cloud = { 'ce-specversion': '1.0', 'ce-id': 'mine', 'ce-source': '/s', 'ce-type': 't' };
        await publish(stream, '{"n":2}', cloud);
        await publish(stream, '{}', { 'Agent-Platform-Depth': '5' });
        const trigger = await create(stream, { mapping: { message: '{{ event.type }} {{ event.body }}' } });
        await until(async () => (await eventsOf(at(), trigger)).length === 5);
        const events = (await eventsOf(at(), trigger)).reverse();
        expect(events.map(({ event_id, outcome, type }: Json) => [event_id, outcome, type])).toEqual([
          ['1', 'fired', `${stream}.a`],
          ['2', 'invalid', `${stream}.a`],
          ['3', 'invalid', `${stream}.a`],
          ['mine', 'fired', 't'],
          ['5', 'limited', `${stream}.a`],
        ]);
        expect(events[2]).toMatchObject({
          reason: expect.stringMatching(/MAX_EVENT_SIZE_IN_KB/),
          body_kept: false,
        });
        const items = await itemsOf(at(), trigger);
        expect(items.map((one: Json) => one.payload.source).sort()).toEqual(['/s', stream].sort());

        await isRead(at(), trigger);
        await until(async () => (await read(at(), trigger)).reading.lag === 0);
        expect((await read(at(), trigger)).reading).toEqual({
          state: 'ok',
          lag: 0,
          last_error: null,
          last_read_at: expect.any(String),
          positions: [{ partition: null, next: 6, end: 6 }],
        });
        const { text: metrics } = await at().test.as(undefined, '').get('/metrics');
        expect(metrics).toContain(`agent_platform_trigger_lag_messages{trigger_id="${trigger.id}"} 0`);
        const explained = `/agents/${trigger.agent_id}/triggers/${trigger.id}/explain?event_id=4`;
        expect(await ok(at().app.get(explained))).toMatchObject({ verdict: 'fired' });
        await setSettings(at(), { MAX_EVENT_SIZE_IN_KB: 1_024 });
      });

      test(`${database}: a paused trigger leaves messages at the broker, and one that is deleted takes its consumer along`, async () => {
        const stream = await newStream();
        const trigger = await create(stream);
        const path = `/agents/${trigger.agent_id}/triggers/${trigger.id}`;
        await isRead(at(), trigger);
        await ok(at().api.post(`${path}/pause`, {}));
        await until(async () => (await read(at(), trigger)).reading === null);
        await publish(stream, '1');
        await ok(at().api.post(`${path}/resume`));
        await until(async () => (await itemsOf(at(), trigger)).length === 1);
        expect((await eventsOf(at(), trigger)).map((one: Json) => [one.outcome, one.deliveries])).toEqual([
          ['fired', 1],
        ]);

        const { name, mapping, settings } = trigger;
        const definition = {
          name,
          kind: 'nats',
          mapping,
          settings: { ...settings, subjects: [`${stream}.b`] },
        };
        await ok(at().api.put(path, { ...definition, filter: 'event.body == 3.0' }));
        await isRead(at(), trigger);
        await publish(stream, '2');
        await jetstream(connection).publish(`${stream}.b`, '3');
        await until(async () => (await itemsOf(at(), trigger)).length === 2);

        expectError(await at().api.delete(`/event-connections/${connectionId}`), 412, /Triggers use/, {
          trigger_ids: expect.arrayContaining([trigger.id]),
        });
        await ok(at().api.delete(path), 204);
        const consumers = async () => (await manager.streams.info(stream)).state.consumer_count;
        await until(async () => (await consumers()) === 0);
        await until(async () => {
          const rows = await at()
            .sql`select trigger_id from trigger_readings where trigger_id = ${trigger.id}`;
          return rows.length === 0;
        });
      });

      test(`${database}: a missing stream blocks the trigger until it is there`, async () => {
        const trigger = await create(`${database}-later`);
        await expect
          .poll(() => read(at(), trigger))
          .toMatchObject({
            blocked_reason: `There is no stream ${database}-later.`,
            reading: { state: 'failing' },
          });
        await manager.streams.add({ name: `${database}-later`, subjects: [`${database}-later.>`] });
        await publish(`${database}-later`, '1');
        await until(async () => (await itemsOf(at(), trigger)).length === 1, 40_000);
        await until(async () => (await read(at(), trigger)).blocked_reason === null);
      });
    });
  }
});

describeWithKafka('triggers of Kafka', () => {
  let kafka: Kafka;
  beforeAll(async () => {
    kafka = await startKafka();
  });
  afterAll(() => kafka?.stop());

  withPlatform('postgres', (at) => {
    test('messages are events, and what Kafka dropped is one entry of the ledger', async () => {
      await kafka.admin.createTopics({ topics: ['t'], partitions: 1, replicas: 1 });
      const settings = { brokers: [kafka.address], tls };
      const { id } = await ok(
        at().api.post('/event-connections', { name: 'kafka', kind: 'kafka', settings }),
      );
      const cloud = { ce_specversion: '1.0', ce_id: 'mine', ce_source: '/s', ce_type: 't' };
      await kafka.send('t', [
        { key: 'k', value: '{"type":"order"}' },
        { value: '{}', headers: cloud },
      ]);
      const trigger = await newTrigger(at(), (await newAgentOutside(at())).id, {
        kind: 'kafka',
        settings: { connection_id: id, topic: 't', start: 'earliest' },
        mapping: { message: '{{ event.subject }}' },
      });
      await until(async () => (await itemsOf(at(), trigger)).length === 2);
      const events = (await eventsOf(at(), trigger)).reverse();
      expect(events.map(({ event_id, type }: Json) => [event_id, type])).toEqual([
        ['0/0', 'order'],
        ['mine', 't'],
      ]);
      const path = `/agents/${trigger.agent_id}/triggers/${trigger.id}`;
      expect(await ok(at().app.get(`${path}/explain?event_id=0/1`))).toMatchObject({ verdict: 'fired' });

      await ok(at().api.post(`${path}/pause`, {}));
      await until(async () => (await read(at(), trigger)).reading === null);
      await kafka.send(
        't',
        ['3', '4', '5'].map((value) => ({ value })),
      );
      const partitions = [{ partition: 0, offset: 4n }];
      await kafka.admin.deleteRecords({ topics: [{ name: 't', partitions }] });
      await ok(at().api.post(`${path}/resume`));
      await until(async () => (await itemsOf(at(), trigger)).length === 3);
      const [lost] = await eventsOf(at(), trigger, '?outcome=lost');
      expect(lost).toMatchObject({
        event_id: '0/2',
        reason: 'Kafka dropped the offsets 2 to 3 of partition 0 before they were read: 2 offsets.',
        work_item_id: null,
      });
    });
  });
});
