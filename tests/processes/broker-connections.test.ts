import { afterAll, beforeAll, expect, test } from 'vitest';
import { tryConnection } from '../../src/event-connections/try-connection.ts';
import { createEgress } from '../../src/lib/egress.ts';
import { describeWithKafka, type Kafka, startKafka } from '../harness/kafka.ts';
import { readingsOf, TakenMessages } from '../harness/reading.ts';
import { selfSigned } from '../harness/self-signed.ts';
import { until } from '../harness/wait.ts';

const egress = createEgress({ deny: [] });
const stepsOf = ({ steps }: Awaited<ReturnType<typeof tryConnection>>) =>
  steps.map(({ step, ok }) => `${step} ${ok}`);
const all = (...steps: string[]) => steps.map((one) => `${one} true`);

describeWithKafka('tests of Kafka connections', () => {
  let kafka: Kafka;
  beforeAll(async () => {
    kafka = await startKafka({ sasl: { username: 'reader', password: 'hunter2' }, tls: selfSigned });
    await kafka.admin.createTopics({ topics: ['t'], partitions: 1, replicas: 1 });
  });
  afterAll(() => kafka?.stop());

  const trusting = { mode: 'verify_full', ca: selfSigned.cert };
  const sasl = { mechanism: 'scram-sha-256', username: 'reader', password: 'hunter2' };
  const attempt = (more: object = {}) =>
    tryConnection({ kind: 'kafka', brokers: [kafka.address], tls: trusting, sasl, ...more } as never, egress);

  test('its steps pass over TLS with SASL, by name and by address, and it says which failed', async () => {
    const passed = all('resolve', 'connect', 'tls', 'authenticate', 'version', 'list');
    expect(stepsOf(await attempt())).toEqual(passed);
    expect(stepsOf(await attempt({ sasl: { ...sasl, mechanism: 'plain' } }))).toEqual(passed);
    expect(stepsOf(await attempt({ brokers: [kafka.address.replace('127.0.0.1', 'localhost')] }))).toEqual(
      passed,
    );
    expect(await attempt({ tls: { mode: 'require' } })).toMatchObject({ ok: true });

    const wrong = await attempt({ sasl: { ...sasl, password: 'canary' } });
    expect(wrong).toMatchObject({ ok: false, reason: 'authentication' });
    expect(stepsOf(wrong).at(-1)).toBe('authenticate false');
    expect(JSON.stringify(wrong)).not.toMatch(/canary/);
    expect(await attempt({ tls: { mode: 'verify_full' } })).toMatchObject({ ok: false, reason: 'tls' });
    const unused = await attempt({ brokers: ['127.0.0.1:1'] });
    expect(stepsOf(unused)).toEqual(['resolve true', 'connect false']);
    expect(await attempt({ brokers: ['127.0.0.1:1', kafka.address] })).toMatchObject({ ok: true });
  }, 400_000);

  test('a topic is read over TLS with SASL', async () => {
    const readings = readingsOf('kafka', { brokers: [kafka.address], tls: trusting, sasl });
    const taken = new TakenMessages();
    await readings.begin({ kind: 'kafka', topic: 't', group: 'g', start: 'latest' }, taken);
    await kafka.send('t', [{ value: 'x' }]);
    await until(() => taken.messages.length === 1);
    await readings.close();
  });
});

describeWithKafka('addresses of Kafka', () => {
  test('one that a broker advertises is checked like those of the settings', async () => {
    await using kafka = await startKafka({ advertised: '169.254.169.254:9092' });
    await kafka.admin.createTopics({ topics: ['t'], partitions: 1, replicas: 1 });
    const denying = createEgress({});
    const readings = readingsOf('kafka', { brokers: [kafka.address], tls: { mode: 'disable' } }, denying);
    const reading = readings.read(
      { kind: 'kafka', topic: 't', group: 'g', start: 'latest' },
      new TakenMessages(),
    );
    await until(() => reading.status().state === 'failing');
    expect(reading.status().last_error).toMatch(/169\.254\.169\.254 is not permitted/);
    await readings.close();
  });
});
