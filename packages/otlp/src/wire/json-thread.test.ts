import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { decodeProtobuf } from '../../tests/decode.ts';
import { fromJson, mostValues } from './json.ts';
import { JsonThread } from './json-thread.ts';

const withSpans = (count: number): string => {
  const spans = Array.from({ length: count }, (_, i) => ({
    traceId: '5b8efff798038103d269b633813fc60c',
    spanId: 'eee19b7ec3c1b174',
    name: `span ${i} é`,
    attributes: [{ key: 'text', value: { stringValue: '"{[,]}"\\'.repeat(20) } }],
  }));
  return JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
};

test('a large body is converted on the thread as in place, faults included, many at a time', async () => {
  const thread = new JsonThread();
  const large = withSpans(1_000);
  expect(large.length).toBeGreaterThan(200_000);
  const [first, broken, second, small] = await Promise.all([
    thread.convert(Buffer.from(large)),
    thread.convert(Buffer.from(large.slice(1))),
    thread.convert(Buffer.from(large)),
    thread.convert(Buffer.from(withSpans(1))),
  ]);
  expect(first).toEqual(fromJson(Buffer.from(large)));
  expect(decodeProtobuf(first as Buffer)[999]!.name).toBe('span 999 é');
  expect(second).toEqual(first);
  expect(broken).toEqual({ error: 'the body is not valid JSON in UTF-8' });
  expect(decodeProtobuf(small as Buffer)).toHaveLength(1);
});

test('a thread that ends loses only the body that it was converting', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'ap-json-'));
  const program = join(directory, 'worker.mjs');
  writeFileSync(
    program,
    `import { parentPort } from 'node:worker_threads';
     parentPort.on('message', (body) => {
       if (body[0] === 0x78) throw new Error('out of order');
       parentPort.postMessage({ error: String(body.length) });
     });`,
  );
  try {
    const thread = new JsonThread(pathToFileURL(program));
    const lengths = [100_000, 100_001, 100_002];
    const responses = await Promise.all(
      lengths.map((length, i) => thread.convert(Buffer.alloc(length, i === 1 ? 'x' : ' '))),
    );
    expect(responses).toEqual([{ error: '100000' }, null, { error: '100002' }]);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('a body with too many values for the memory is refused before it is parsed; text does not count', () => {
  const tooMany = `{"resourceSpans":[${'{},'.repeat(mostValues / 2)}{}]}`;
  expect(fromJson(Buffer.from(tooMany))).toEqual({ error: expect.stringContaining('values') });
  const text = withSpans(1).replace('span 0', ',[{'.repeat(mostValues));
  expect(fromJson(Buffer.from(text))).toBeInstanceOf(Buffer);
});
