import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFileLog, writeAll } from '@agent-platform/otlp/log';
import { DiagLogLevel, diag, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanExporter,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { beforeAll, expect, test } from 'vitest';
import { createReceiver } from '../../src/telemetry/receiver/receiver.ts';
import { useTracedPlatform } from './fixture.ts';

const fixture = useTracedPlatform();
beforeAll(async () => {
  await fixture.platform.integrate({ provider: 'otlp_custom_headers', url: fixture.backend.url });
});

/** Spans with everything that a span can have, created by the SDK. */
const spansOf = async (agentId: string): Promise<ReadableSpan[]> => {
  const memory = new InMemorySpanExporter();
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'client', 'gen_ai.agent.id': agentId }),
    spanProcessors: [new SimpleSpanProcessor({ exporter: memory })],
  });
  const tracer = provider.getTracer('interop', '1.2.3');
  const parent = tracer.startSpan('chat mødel ✓', {
    kind: SpanKind.CLIENT,
    startTime: [1_700_000_000, 123_456_789],
    attributes: {
      text: 'zwölf Boxkämpfer',
      'gen_ai.usage.input_tokens': 9_007_199_254_740_991,
      double: 0.1,
      negative: -7,
      yes: true,
      list: ['a', 'b'],
      numbers: [1, 2, 3],
    },
  });
  parent.addEvent('first token', { index: 0 }, [1_700_000_000, 200_000_000]);
  parent.setStatus({ code: SpanStatusCode.ERROR, message: 'it broke' });
  const linked = tracer.startSpan('execute_tool', { links: [{ context: parent.spanContext() }] });
  linked.end();
  parent.end([1_700_000_001, 987_654_321]);
  await provider.forceFlush();
  return memory.getFinishedSpans();
};

const exported = (exporter: SpanExporter, spans: ReadableSpan[]): Promise<Error | null> =>
  new Promise((resolve) => exporter.export(spans, ({ error }) => resolve(error ?? null)));

const exporters = { protobuf: ProtobufExporter, json: JsonExporter };

for (const encoding of ['protobuf', 'json'] as const) {
  for (const compression of ['gzip', 'none'] as const) {
    test(`the exporter of the JavaScript SDK, ${encoding}, compression ${compression}: every span arrives as it was`, async () => {
      const exporter = new exporters[encoding]({
        url: fixture.platform.tracesUrl,
        headers: { authorization: `Bearer ${fixture.platform.process.key}` },
        compression: compression as never,
      });
      const spans = await spansOf('interop');
      expect(await exported(exporter, spans)).toBeNull();
      await exporter.shutdown();
      const [tool, chat] = await fixture.backend.waitForSpans(2);
      const [{ traceId, spanId }] = [spans[1]!.spanContext()];
      expect(chat).toEqual({
        resource: expect.objectContaining({ 'service.name': 'client', 'gen_ai.agent.id': 'interop' }),
        scope: { name: 'interop', version: '1.2.3' },
        traceId,
        spanId,
        parentSpanId: '',
        traceState: '',
        name: 'chat mødel ✓',
        kind: 3,
        startTimeUnixNano: 1_700_000_000_123_456_789n,
        endTimeUnixNano: 1_700_000_001_987_654_321n,
        attributes: {
          text: 'zwölf Boxkämpfer',
          'gen_ai.usage.input_tokens': 9_007_199_254_740_991,
          double: 0.1,
          negative: -7,
          yes: true,
          list: ['a', 'b'],
          numbers: [1, 2, 3],
        },
        events: [{ name: 'first token', timeUnixNano: 1_700_000_000_200_000_000n, attributes: { index: 0 } }],
        links: [],
        status: { code: 2, message: 'it broke' },
      });
      expect(tool).toMatchObject({ name: 'execute_tool', links: [{ traceId, spanId }] });
      expect(fixture.backend.requests).toHaveLength(1);
    });
  }

  test(`the SDK reads a partial success, ${encoding}: it reports what was refused and sends nothing again`, async () => {
    const warnings: string[] = [];
    const note = (...words: unknown[]) => void warnings.push(words.join(' '));
    const silent = () => {};
    diag.setLogger(
      { error: note, warn: note, info: silent, debug: silent, verbose: silent },
      { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
    );
    try {
      const exporter = new exporters[encoding]({
        url: fixture.platform.tracesUrl,
        headers: { authorization: `Bearer ${fixture.platform.process.key}` },
      });
      const [good, bad] = await spansOf('interop');
      const context = { ...bad!.spanContext(), spanId: '0000000000000000' };
      const spans = [good!, Object.assign(Object.create(bad!), { spanContext: () => context })];
      expect(await exported(exporter, spans)).toBeNull();
      await exporter.shutdown();
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toMatch(/^Received Partial Success response: \{.*"rejectedSpans":"?1"?/);
      expect(warnings[0]).toContain('"errorMessage":"');
      const arrived = await fixture.backend.waitForSpans(1);
      expect(arrived.map(({ name }) => name)).toEqual(['execute_tool']);
    } finally {
      diag.disable();
    }
  });

  test(`the SDK waits for the Retry-After of a 503, ${encoding}, and the span is then accepted once`, async () => {
    const directory = await mkdtemp(join(tmpdir(), 'ap-interop-'));
    let broken = true;
    const log = await openFileLog({
      directory,
      write: (file, bytes, at) => {
        if (!broken) return writeAll(file, bytes, at);
        broken = false;
        return Promise.reject(Object.assign(new Error('bad disk'), { code: 'EIO' }));
      },
    });
    const receiver = createReceiver({ log, routes: () => ({ forAgent: () => [1] }) });
    const responses: { status: number; at: number }[] = [];
    const server = createServer(async (request, response) => {
      const result = await receiver.receive({
        contentType: request.headers['content-type'],
        contentEncoding: request.headers['content-encoding'],
        body: request,
      });
      responses.push({ status: result.status, at: performance.now() });
      response.writeHead(result.status, { 'content-type': result.contentType, ...result.headers });
      response.end(result.body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const exporter = new exporters[encoding]({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`,
    });
    try {
      expect(await exported(exporter, await spansOf('interop'))).toBeNull();
      expect(responses.map(({ status }) => status)).toEqual([503, 200]);
      expect(responses[1]!.at - responses[0]!.at).toBeGreaterThan(990);
      expect(log.counters(1)).toMatchObject({ queued: 2 });
    } finally {
      await exporter.shutdown();
      server.closeAllConnections();
      server.close();
      await log.close();
      await rm(directory, { recursive: true });
    }
  });
}

test('a wrong key is an error that the SDK does not repeat', async () => {
  const exporter = new ProtobufExporter({
    url: fixture.platform.tracesUrl,
    headers: { authorization: 'Bearer wrong' },
  });
  expect(await exported(exporter, await spansOf('interop'))).toMatchObject({ code: 401 });
  await exporter.shutdown();
});
