import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeRequest } from '../../packages/otlp/tests/encode.ts';
import { startCollector } from '../harness/collector.ts';
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from '../harness/otlp-receiver.ts';
import { skipNote } from '../harness/programs.ts';
import { useTracedPlatform } from './fixture.ts';
import { type OddRequest, oddJson, oddRequests, validJson } from './odd-bodies.ts';

const binary = process.env.OTELCOL_BIN;
const why = skipNote(binary ? null : 'OTELCOL_BIN names no OpenTelemetry Collector');

const body = encodeRequest([
  {
    attributes: { 'gen_ai.agent.id': 'a', 'service.name': 'one', nested: { list: [1, 'x', true] } },
    scopes: [
      { name: 's1', spans: Array.from({ length: 40 }, (_, i) => ({ name: `a-${i}`, attributes: { i } })) },
      { name: 's2', spans: [{ name: 'ü ✓', attributes: { text: '"quoted"\n' } }] },
    ],
  },
  { attributes: { 'gen_ai.agent.id': 'b' }, scopes: [{ spans: [{ name: 'b-0' }] }] },
]);
const spansInBody = 42;

const post = async (
  url: string,
  { method = 'POST', contentType, contentEncoding, body: content }: OddRequest,
  key?: string,
): Promise<number> => {
  const response = await fetch(url, {
    method,
    headers: {
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
      ...(contentEncoding === undefined ? {} : { 'content-encoding': contentEncoding }),
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    },
    ...(method === 'GET' ? {} : { body: new Uint8Array(Buffer.from(content as string)) }),
  });
  await response.arrayBuffer();
  return response.status;
};

/** In a fixed order, because a forwarder may group spans in another way. */
const sorted = (spans: ReceivedSpan[]) =>
  [...spans].sort((a, b) => (`${a.traceId}${a.spanId}` < `${b.traceId}${b.spanId}` ? -1 : 1));

describe.skipIf(!binary)(`the OpenTelemetry Collector${why}`, () => {
  const fixture = useTracedPlatform();

  /** What a backend gets if the request is sent to it directly. */
  const direct = async (): Promise<ReceivedSpan[]> => {
    fixture.backend.clear();
    await post(fixture.backend.url, { contentType: 'application/x-protobuf', body });
    const spans = sorted(fixture.backend.spans());
    fixture.backend.clear();
    expect(spans).toHaveLength(spansInBody);
    return spans;
  };
  const deleteAll = async () => {
    const { body: all } = await fixture.platform.api.get('/observability/integrations');
    for (const { id } of all.data ?? all)
      await fixture.platform.api.delete(`/observability/integrations/${id}`);
  };

  for (const encoding of ['proto', 'json'] as const) {
    for (const compression of ['gzip', 'none'] as const) {
      test(`as client, ${encoding}, compression ${compression}: every span arrives as it was`, async () => {
        const id = await fixture.platform.integrate({
          provider: 'otlp_custom_headers',
          url: fixture.backend.url,
        });
        const headers = { authorization: `Bearer ${fixture.platform.process.key}` };
        await using collector = await startCollector(binary!, {
          url: fixture.platform.tracesUrl,
          headers,
          encoding,
          compression,
        });
        const wanted = await direct();
        expect(await post(collector.url, { contentType: 'application/x-protobuf', body })).toBe(200);
        expect(sorted(await fixture.backend.waitForSpans(spansInBody))).toEqual(wanted);
        await fixture.platform.healthIs(id, { delivered: spansInBody, queued: 0 });
        await deleteAll();
      });
    }
  }

  test('as backend: it forwards every span that the platform sends', async () => {
    await using collector = await startCollector(binary!, { url: fixture.backend.url });
    const id = await fixture.platform.integrate({ provider: 'otlp_custom_headers', url: collector.url });
    const wanted = await direct();
    const key = fixture.platform.process.key;
    for (const gzip of [false, true]) {
      const sent = {
        contentType: 'application/x-protobuf',
        ...(gzip ? { contentEncoding: 'gzip', body: gzipSync(body) } : { body }),
      };
      expect(await post(fixture.platform.tracesUrl, sent, key)).toBe(200);
      expect(sorted(await fixture.backend.waitForSpans(spansInBody))).toEqual(wanted);
      fixture.backend.clear();
    }
    await fixture.platform.healthIs(id, { state: 'delivering', delivered: 2 * spansInBody, rejected: 0 });
    await deleteAll();
  });

  describe('as oracle', () => {
    let oracle: Awaited<ReturnType<typeof startCollector>>;
    let behind: OtlpReceiver;
    beforeAll(async () => {
      behind = await startOtlpReceiver();
      oracle = await startCollector(binary!, { url: behind.url });
      await fixture.platform.integrate({ provider: 'otlp_custom_headers', url: fixture.backend.url });
    });
    afterAll(async () => {
      await oracle?.[Symbol.asyncDispose]();
      await behind?.close();
    });
    const both = async (request: OddRequest): Promise<{ platform: number; oracle: number }> => ({
      platform: await post(fixture.platform.tracesUrl, request, fixture.platform.process.key),
      oracle: await post(oracle.url, request),
    });

    /** The cases in which the platform decides otherwise. */
    const known: Record<string, { platform: number; oracle: number }> = {
      // Neither is a JSON object with nothing after it.
      null: { platform: 400, oracle: 200 },
      'something after the JSON': { platform: 400, oracle: 200 },
      // Invalid spans are rejected one by one, as a partial success: the valid ones next to them are kept.
      'an id with an odd digit': { platform: 200, oracle: 400 },
      'an id that is not hex': { platform: 200, oracle: 400 },
      // HTTP has 415 for this.
      'an encoding that is unknown': { platform: 415, oracle: 400 },
    };

    test.each(Object.keys(oddRequests))('the same decision: %s', async (name) => {
      const decided = await both(oddRequests[name]!);
      expect(decided).toEqual(known[name] ?? { platform: decided.oracle, oracle: decided.oracle });
    });

    test.each(Object.keys(oddJson))('the same span: %s', async (name) => {
      behind.clear();
      fixture.backend.clear();
      const request = { contentType: 'application/json', body: JSON.stringify(oddJson[name]) };
      expect(await both(request)).toEqual({ platform: 200, oracle: 200 });
      expect(await fixture.backend.waitForSpans(1)).toEqual(await behind.waitForSpans(1));
    });

    test('both read all members of a body of several gzip members', async () => {
      behind.clear();
      fixture.backend.clear();
      const half = validJson.length >> 1;
      const members = [validJson.slice(0, half), validJson.slice(half)].map((part) => gzipSync(part));
      const request = {
        contentType: 'application/json',
        contentEncoding: 'gzip',
        body: Buffer.concat(members),
      };
      expect(await both(request)).toEqual({ platform: 200, oracle: 200 });
      expect(await fixture.backend.waitForSpans(1)).toEqual(await behind.waitForSpans(1));
    });
  });
});
