import { execFile, execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { encodeRequest, lengthField } from '../../packages/otlp/tests/encode.ts';
import { skipNote, testPython } from '../harness/programs.ts';
import { useTracedPlatform } from './fixture.ts';
import { oddJson } from './odd-bodies.ts';

/** A Python with opentelemetry-exporter-otlp-proto-http and opentelemetry-sdk. */
const python = testPython;
const has = (module: string): boolean => {
  try {
    execFileSync(python!, ['-c', `import ${module}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};
const missing = !python
  ? 'no Python for the tests'
  : ['opentelemetry.proto', 'opentelemetry.sdk', 'opentelemetry.exporter.otlp.proto.http'].every(has)
    ? null
    : 'no OpenTelemetry in the Python of the tests';

const run = (script: string, args: string[], input = ''): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const child = execFile(
      python!,
      [join(import.meta.dirname, 'python', script), ...args],
      { maxBuffer: 64 * 1024 * 1024 },
      (error, stdout) => (error ? reject(error) : resolve(JSON.parse(stdout))),
    );
    child.stdin!.end(input);
  });

interface Judged {
  encoding: 'protobuf' | 'json';
  body: Uint8Array | string;
}
/** What the official classes read from these requests. */
const judge = (requests: Judged[]): Promise<unknown[]> =>
  run(
    'judge.py',
    [],
    JSON.stringify(
      requests.map(({ encoding, body }) => ({
        encoding,
        body: Buffer.from(body as string).toString('base64'),
      })),
    ),
  ) as Promise<unknown[]>;

describe.skipIf(missing !== null)(`with Python${skipNote(missing)}`, () => {
  const fixture = useTracedPlatform();
  beforeAll(async () => {
    await fixture.platform.integrate({ provider: 'otlp_custom_headers', url: fixture.backend.url });
  });

  /** Sends one request and resolves to the payload that the backend got for it. */
  const through = async (
    encoding: Judged['encoding'],
    body: Uint8Array | string,
    gzip = false,
  ): Promise<Buffer> => {
    fixture.backend.clear();
    const response = await fetch(fixture.platform.tracesUrl, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${fixture.platform.process.key}`,
        'content-type': encoding === 'json' ? 'application/json' : 'application/x-protobuf',
        ...(gzip ? { 'content-encoding': 'gzip' } : {}),
      },
      body: new Uint8Array(gzip ? gzipSync(body) : Buffer.from(body as string)),
    });
    expect(response.status, await response.text()).toBe(200);
    const [request] = await fixture.backend.waitForRequests(1);
    expect(request!.fault).toBeNull();
    return request!.payload;
  };

  for (const compression of ['gzip', 'none']) {
    test(`the Python SDK as client, compression ${compression}: every span arrives as it was`, async () => {
      const sent = (await run('client.py', [
        fixture.platform.tracesUrl,
        fixture.platform.process.key,
        compression,
      ])) as {
        result: string;
        spans: object[];
      };
      expect(sent.result).toBe('SUCCESS');
      const arrived = (await fixture.backend.waitForSpans(3)).map((span) => ({
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId,
        name: span.name,
        start: String(span.startTimeUnixNano),
        end: String(span.endTimeUnixNano),
        status: span.status.code,
        attributes: Object.fromEntries(
          Object.entries(span.attributes).map(([key, value]) => [
            key,
            Array.isArray(value) ? value : String(value),
          ]),
        ),
        events: span.events.map(({ name }) => name),
      }));
      expect(arrived).toEqual(sent.spans);
    });
  }

  test('the official decoder reads the same from what was sent and from what the backend got: protobuf with unknown fields', async () => {
    const body = encodeRequest([
      {
        attributes: { 'gen_ai.agent.id': 'judge', nested: { list: [1, 'a', true, { deep: 'x' }] } },
        resourceLast: true,
        unknown: lengthField(99, 'kept'),
        scopes: [
          {
            name: 'one',
            spans: [{ name: 'a', attributes: { n: 7 }, unknown: lengthField(1_000, 'kept too') }],
          },
          { name: 'two', spans: [{ name: 'b' }, { name: '' }] },
        ],
      },
    ]);
    const payloads = [await through('protobuf', body), await through('protobuf', body, true)];
    const [sent, ...got] = await judge(
      [body, ...payloads].map((one) => ({ encoding: 'protobuf' as const, body: one })),
    );
    expect(sent).toMatchObject({ resource_spans: [{ scope_spans: [{}, {}] }] });
    expect(got).toEqual([sent, sent]);
    expect(payloads.map((one) => one.equals(body))).toEqual([true, true]);
  });

  test.each(Object.keys(oddJson))('JSON becomes the protobuf of the official mapping: %s', async (name) => {
    const body = JSON.stringify(oddJson[name]);
    const payload = await through('json', body);
    const [sent, got] = await judge([
      { encoding: 'json', body },
      { encoding: 'protobuf', body: payload },
    ]);
    expect(sent).not.toHaveProperty('error');
    expect(got).toEqual(sent);
  });
});
