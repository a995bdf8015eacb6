import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { decodeProtobuf } from '../../../packages/otlp/tests/decode.ts';
import { spansNamed } from '../../../packages/otlp/tests/encode.ts';
import { startDelivery } from '../../../tests/harness/delivery.ts';
import { until } from '../../../tests/harness/wait.ts';
import { unavailable } from '../../lib/errors.ts';
import { type SpanSink, sinkNumber, withSink } from '../routing.ts';

/** A sink in memory, as strict as the real one: an ordinal is final, and `stored` counts what it has. */
const memorySink = (more: Partial<SpanSink> = {}) => {
  const state = { ordinal: 0, names: [] as string[], calls: 0, fault: null as (() => Error | null) | null };
  const sink: SpanSink = {
    mostBehind: 1e9,
    routes: () => 'agents',
    spansPerSecond: () => 1_000_000,
    store: async (_log, start, requests) => {
      state.calls++;
      const names = requests.flatMap(({ bytes, gzip }) =>
        decodeProtobuf(gzip ? gunzipSync(bytes) : bytes).map(({ name }) => name),
      );
      expect(names).toHaveLength(requests.reduce((sum, { spans }) => sum + spans, 0));
      const fault = state.fault?.();
      if (fault) throw fault;
      state.names.push(...names.slice(Math.max(0, state.ordinal - start)));
      state.ordinal = Math.max(state.ordinal, start + names.length);
      return state.names.length;
    },
    skip: async (_log, through) => {
      state.ordinal = Math.max(state.ordinal, through);
      return state.names.length;
    },
    ...more,
  };
  return { sink, state };
};

const begin = async (sink: SpanSink) => {
  const fixture = await startDelivery({ sink });
  const { telemetryLog, delivery } = fixture;
  await telemetryLog.register(sinkNumber);
  return {
    ...fixture,
    append: (prefix: string, count: number, gzip = false, padding = 0) => {
      const bytes = spansNamed(prefix, count, 'agent', padding);
      const one = gzip ? { bytes: gzipSync(bytes), gzip } : { bytes };
      return telemetryLog.append([{ ...one, spans: count, routes: [sinkNumber] }]);
    },
    counters: () => telemetryLog.counters(sinkNumber),
    settled: () =>
      until(() => {
        delivery.wake();
        return telemetryLog.counters(sinkNumber).queued === 0;
      }),
  };
};

const sequence = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `${prefix}-${i}`);

test('the sink gets every span once and in order, compressed or not, and none before delivery starts is lost', async () => {
  const { sink, state } = memorySink();
  await using fixture = await begin(sink);
  await fixture.append('a', 3);
  fixture.delivery.start();
  await fixture.append('b', 2, true);
  await fixture.append('c', 1);
  await fixture.settled();
  expect(state.names).toEqual([...sequence('a', 3), ...sequence('b', 2), 'c-0']);
  expect(fixture.counters()).toMatchObject({ delivered: 6, queued: 0, rejected: 0, discarded: 0 });
});

test('what the sink had stored before a crash, with the cursor behind, is not stored again, and is counted', async () => {
  const { sink, state } = memorySink();
  await using fixture = await begin(sink);
  await fixture.append('a', 5);
  // The sink has the first three, of which one was lost on the way to it: the cursor knows of none.
  state.ordinal = 3;
  state.names = ['a-0', 'a-1'];
  fixture.delivery.start();
  await fixture.settled();
  expect(state.names).toEqual(['a-0', 'a-1', 'a-3', 'a-4']);
  expect(fixture.counters()).toMatchObject({ delivered: 4, rejected: 1, queued: 0 });
});

test('while the database is away spans wait; when it is back they are stored, and the report says so', async () => {
  const { sink, state } = memorySink();
  await using fixture = await begin(sink);
  const { delivery } = fixture;
  state.fault = () => unavailable('The database does not respond at present.');
  delivery.start();
  await fixture.append('a', 4);
  await until(async () => (await delivery.report(sinkNumber))?.state === 'retrying');
  for (let i = 0; i < 10; i++) fixture.later(10_000);
  expect(fixture.counters()).toMatchObject({ queued: 4, rejected: 0 });
  state.fault = null;
  await until(() => {
    fixture.later(10_000);
    return fixture.counters().queued === 0;
  });
  expect(state.names).toEqual(sequence('a', 4));
  expect(await delivery.report(sinkNumber)).toMatchObject({ state: 'delivering', last_error: null });
});

test('a record that can never be stored is left out alone, and is counted', async () => {
  const { sink, state } = memorySink();
  await using fixture = await begin({
    ...sink,
    store: async (log, start, requests) => {
      if (requests.some(({ bytes }) => bytes.includes('bad'))) throw new Error('cannot be stored');
      return sink.store(log, start, requests);
    },
  });
  for (const name of ['a', 'bad', 'c']) await fixture.append(name, 2);
  fixture.delivery.start();
  await until(() => {
    fixture.later(10_000);
    return fixture.counters().queued === 0;
  });
  expect(state.names).toEqual([...sequence('a', 2), ...sequence('c', 2)]);
  expect(fixture.counters()).toMatchObject({ delivered: 4, rejected: 2 });
});

test('a sink that is too far behind jumps to the newest spans, and what it leaves out is counted', async () => {
  const { sink, state } = memorySink({ mostBehind: 50_000 });
  await using fixture = await begin(sink);
  await fixture.append('old', 100, false, 1_000);
  fixture.delivery.start();
  await fixture.settled();
  await fixture.append('new', 2);
  await fixture.settled();
  expect(state.names).toEqual(sequence('new', 2));
  expect(fixture.counters()).toMatchObject({ delivered: 2, discarded: 100 });
});

test('no more spans a second are stored than the limit says, after those of one second at once', async () => {
  const { sink, state } = memorySink({ spansPerSecond: () => 200 });
  await using fixture = await begin(sink);
  for (let i = 0; i < 30; i++) await fixture.append(`r${i}`, 10, true);
  const begun = performance.now();
  fixture.delivery.start();
  await fixture.settled();
  expect(state.names).toHaveLength(300);
  expect(performance.now() - begun).toBeGreaterThan(400);
});

test('a removal by a replica that does not know the sink is taken back', async () => {
  const { sink, state } = memorySink();
  await using fixture = await begin(sink);
  fixture.delivery.start();
  await fixture.append('a', 1);
  await fixture.settled();
  await fixture.telemetryLog.remove(sinkNumber);
  fixture.delivery.wake();
  await until(
    () => !fixture.telemetryLog.integrations().find(({ number }) => number === sinkNumber)!.removed,
  );
  await fixture.append('b', 1);
  await fixture.settled();
  expect(state.names).toEqual(['a-0', 'b-0']);
});

test('agent spans and received ones are routed to the sink, application spans only if all are wanted', () => {
  const kinds = ['agent', 'received', 'application'] as const;
  const table = { forAgent: () => [5] };
  const routed = (routes: 'off' | 'agents' | 'all') =>
    kinds.map((kind) => withSink(table, routes).forAgent('a', kind));
  expect(routed('off')).toEqual([[5], [5], [5]]);
  expect(routed('agents')).toEqual([[0, 5], [0, 5], [5]]);
  expect(routed('all')).toEqual([
    [0, 5],
    [0, 5],
    [0, 5],
  ]);
});
