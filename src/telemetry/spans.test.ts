import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TelemetryLog } from '@agent-platform/otlp/log';
import { openFileLog, writeAll } from '@agent-platform/otlp/log';
import { SpanKind } from '@opentelemetry/api';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { decodeProtobuf, type ReceivedSpan } from '../../packages/otlp/tests/decode.ts';
import { type Logger, silentLogger } from '../lib/log.ts';
import { createTracing } from './spans.ts';

/** Integration 1: all agents. 2: agent a. 3: all, with debug. 4: agent a, with debug. */
const forAgent = (agent: string | null, kind: 'agent' | 'application'): number[] =>
  agent === null
    ? [3]
    : [1, 2, 3, 4].filter((n) => (n > 2 || kind === 'agent') && (n % 2 === 1 || agent === 'a'));

let directory: string;
let log: TelemetryLog;
let full = false;
let traced: ReturnType<typeof createTracing>;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'ap-spans-'));
  log = await openFileLog({
    directory,
    write: (file, bytes, at) =>
      full ? Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' })) : writeAll(file, bytes, at),
  });
  traced = createTracing({ log, routes: () => ({ forAgent }), logger: silentLogger });
});
afterEach(async () => {
  full = false;
  await traced.stop();
  await log.close();
  await rm(directory, { recursive: true });
});

const spansOf = async (number: number): Promise<ReceivedSpan[]> => {
  const batch = await log.read(number, 1e6);
  return (batch?.parts ?? []).flatMap(({ bytes }) => decodeProtobuf(bytes));
};
const namesOf = async (number: number) => (await spansOf(number)).map(({ name }) => name).sort();

test('agent spans go to the integrations of the agent, application spans to those with debug, inside a run too', async () => {
  const { withSpan } = traced.tracing;
  await withSpan('GET /x', { application: true, kind: SpanKind.SERVER }, () => {});
  for (const agentId of ['a', 'b']) {
    await withSpan(`invoke_agent ${agentId}`, { agentId }, async () => {
      await withSpan(`chat ${agentId}`, { kind: SpanKind.CLIENT }, async () => {
        await Promise.resolve();
        await withSpan(`db ${agentId}`, { application: true }, () => {});
      });
    });
  }
  await traced.flush();
  const agent = (id: string) => [`chat ${id}`, `invoke_agent ${id}`];
  expect(await namesOf(1)).toEqual([...agent('a'), ...agent('b')].sort());
  expect(await namesOf(2)).toEqual(agent('a'));
  expect(await namesOf(3)).toEqual(['GET /x', 'db a', 'db b', ...agent('a'), ...agent('b')].sort());
  expect(await namesOf(4)).toEqual(['chat a', 'db a', 'invoke_agent a']);
  const spans = await spansOf(4);
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  expect(spans.find(({ name }) => name === 'chat a')!.attributes['gen_ai.agent.id']).toBe('a');
  expect(spans.every(({ resource }) => resource['service.name'] === 'agent-platform')).toBe(true);
});

test('an application span that no integration would get has ids and is not recorded; agent spans inside it are', async () => {
  const none = createTracing({
    log,
    routes: () => ({ forAgent: (agent, kind) => (kind === 'agent' ? forAgent(agent, kind) : []) }),
    logger: silentLogger,
  });
  const { withSpan, traceparent, traceId } = none.tracing;
  await withSpan('GET /x', { application: true }, async (span) => {
    expect(span.isRecording()).toBe(false);
    const trace = traceId();
    expect(traceparent()).toBe(`00-${trace}-${span.spanContext().spanId}-01`);
    await withSpan('invoke_agent a', { agentId: 'a' }, () => expect(traceId()).toBe(trace));
  });
  await none.stop();
  expect(await namesOf(1)).toEqual(['invoke_agent a']);
});

test('an incoming traceparent is the parent, whatever its sampling says; a malformed one is ignored', async () => {
  const { withSpan, traceId, traceparent } = traced.tracing;
  const trace = '0af7651916cd43dd8448eb211c80319c';
  expect([traceId(), traceparent()]).toEqual([null, null]);
  await withSpan('in', { application: true, traceparent: `00-${trace}-b7ad6b7169203331-00` }, (span) => {
    expect(traceId()).toBe(trace);
    expect(traceparent()).toBe(`00-${trace}-${span.spanContext().spanId}-01`);
  });
  for (const bad of [
    '',
    'x',
    `ff-${trace}-b7ad6b7169203331-01`,
    `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
  ]) {
    await withSpan('alone', { application: true, traceparent: bad }, () => {
      expect(traceId()).not.toBe(trace);
    });
  }
  await traced.flush();
  const spans = await spansOf(3);
  expect(spans).toHaveLength(5);
  expect(spans.find(({ name }) => name === 'in')!.parentSpanId).toBe('b7ad6b7169203331');
});

test('a failure is recorded on its span and thrown again', async () => {
  const failure = new Error('it failed');
  await expect(
    traced.tracing.withSpan('bad', { agentId: 'a' }, () => {
      throw failure;
    }),
  ).rejects.toBe(failure);
  await traced.flush();
  const [span] = await spansOf(1);
  expect(span!.status).toEqual({ code: 2, message: 'it failed' });
  expect(span!.events[0]!.attributes['exception.message']).toBe('it failed');
});

test('spans that the log could not take are kept and stored later', async () => {
  full = true;
  await traced.tracing.withSpan('kept', { agentId: 'a' }, () => {});
  await expect(traced.flush()).rejects.toMatchObject({ kind: 'full' });
  full = false;
  await traced.tracing.withSpan('next', { agentId: 'a' }, () => {});
  await traced.flush();
  expect(await namesOf(1)).toEqual(['kept', 'next']);
});

test('spans are stored soon after they end, without a flush', async () => {
  await traced.tracing.withSpan('soon', { agentId: 'a' }, () => {});
  await new Promise<void>((resolve) => log.onAppend(() => resolve()));
  expect(await namesOf(1)).toEqual(['soon']);
});

test('after the stop nothing is retried, whatever could not be stored', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const error = vi.fn();
    const logger = { error } as unknown as Logger;
    const ending = createTracing({ log, routes: () => ({ forAgent }), logger });
    full = true;
    await ending.tracing.withSpan('lost', { agentId: 'a' }, () => {});
    // The last retry is in progress when the stop comes.
    vi.advanceTimersByTime(1_000);
    await expect(ending.stop()).rejects.toMatchObject({ kind: 'full' });
    await ending.tracing.withSpan('late', { agentId: 'a' }, () => {});
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
