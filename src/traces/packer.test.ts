import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { encodeRequest, type TestSpan } from '../../packages/otlp/tests/encode.ts';
import { unpackBlock } from './blocks.ts';
import { Packer } from './packer.ts';
import type { PartOfBatch, StoredRequest } from './packing.ts';

const traceIdOf = (n: number): string => n.toString(16).padStart(32, '0');
/** As random as real ones are. */
const spanIdOf = (n: number): string => createHash('sha256').update(String(n)).digest('hex').slice(0, 16);

/** `traces` traces from `first` on, of ten spans each; `padding`: bytes of a text in each span. */
const requestOf = (first: number, traces: number, { gzip = false, padding = 0 } = {}): StoredRequest => {
  const spans: TestSpan[] = [];
  for (let n = first; n < first + traces; n++) {
    for (let i = 0; i < 10; i++) {
      spans.push({
        traceId: traceIdOf(n),
        spanId: spanIdOf(n * 10 + i),
        name: `span ${i}`,
        start: 1n,
        end: 2n,
        attributes: { text: 'x'.repeat(padding) },
      });
    }
  }
  const bytes = encodeRequest([{ attributes: { 'service.name': 'shop' }, scopes: [{ spans }] }]);
  return { bytes: gzip ? gzipSync(bytes) : bytes, gzip, spans: spans.length };
};

interface Row {
  trace_id: string;
  span_count: number;
  block: number;
}
const rowsOf = ({ rows }: PartOfBatch): Row[] => JSON.parse(rows);
const contentsOf = ({ blocks }: PartOfBatch) =>
  Promise.all(blocks.map(({ content }) => unpackBlock(content)));

/** More than the thread begins at. */
const large = { padding: 20_000 };

test('a batch is packed on the thread as in place: its rows, its blocks, and what a sender has sent twice', async () => {
  const packer = new Packer();
  const pack = async (requests: StoredRequest[], skip: number) => {
    const sorted = await packer.sort(requests, skip);
    const [packed, ...others] = await sorted.pack(sorted.traceIds.map(() => 7));
    expect(others).toEqual([]);
    expect(packed!.blocks.reduce((sum, { spans }) => sum + spans, 0)).toBe(sorted.spans);
    return { ...sorted, packed: packed! };
  };
  const here = await pack([requestOf(1, 3), requestOf(4, 1, { gzip: true })], 15);
  const there = await pack([requestOf(11, 3, large), requestOf(14, 1, { ...large, gzip: true })], 15);
  for (const [first, { spans, packed, traceIds }] of [
    [1, here],
    [11, there],
  ] as const) {
    expect(spans).toBe(25);
    expect(traceIds).toEqual([first + 1, first + 2, first + 3].map(traceIdOf));
    expect(rowsOf(packed).map(({ span_count }) => span_count)).toEqual([5, 10, 10]);
    expect(
      Buffer.concat(await contentsOf(packed))
        .toString()
        .split('shop').length,
    ).toBeGreaterThan(1);
  }
  // Two blocks: 256 KB of spans is more than one holds.
  expect(here.packed.blocks).toHaveLength(1);
  expect(there.packed.blocks.length).toBeGreaterThan(1);
  expect(new Set(rowsOf(there.packed).map(({ block }) => block)).size).toBeGreaterThan(1);

  // What either has seen changes no count of the other.
  const again = await pack([requestOf(2, 1), requestOf(4, 1, large)], 0);
  expect(rowsOf(again.packed).map(({ span_count }) => span_count)).toEqual([5, 0]);
  const small = await pack([requestOf(13, 1)], 0);
  expect(rowsOf(small.packed).map(({ span_count }) => span_count)).toEqual([0]);
});

test('traces go to the parts that they are given, each part with blocks of its own', async () => {
  const packer = new Packer();
  for (const more of [{}, large]) {
    const sorted = await packer.sort([requestOf(more === large ? 1 : 101, 4, more)], 0);
    const parts = await sorted.pack([1, 2, 1, 2]);
    expect(parts.map(({ part }) => part)).toEqual([1, 2]);
    for (const [i, part] of parts.entries()) {
      expect(rowsOf(part).map(({ trace_id }) => trace_id)).toEqual([
        sorted.traceIds[i],
        sorted.traceIds[i + 2],
      ]);
      expect(part.blocks.reduce((sum, { spans }) => sum + spans, 0)).toBe(20);
    }
  }
});

test('bytes that are no request are refused, and the batch after them is packed', async () => {
  const packer = new Packer();
  const broken = { bytes: Buffer.alloc(100_000, 0xff), gzip: false, spans: 1 };
  const cutOff = { ...requestOf(1, 4, { ...large, gzip: true }), gzip: true };
  cutOff.bytes = Buffer.concat([cutOff.bytes.subarray(0, 200), cutOff.bytes.subarray(-8)]);
  for (const request of [broken, { ...broken, bytes: broken.bytes.subarray(0, 10) }, cutOff]) {
    await expect(packer.sort([request], 0)).rejects.toThrow();
    const sorted = await packer.sort([requestOf(1, 2, large)], 0);
    // Nothing of what was not stored counts as seen.
    const [packed] = await sorted.pack([1, 1]);
    sorted.markFailed();
    expect(rowsOf(packed!).map(({ span_count }) => span_count)).toEqual([10, 10]);
  }
});

test('traces that are not sorted any more are not packed', async () => {
  const packer = new Packer();
  for (const more of [{}, large]) {
    const sorted = await packer.sort([requestOf(more === large ? 1 : 101, 2, more)], 0);
    await sorted.pack([1, 1]);
    await expect(sorted.pack([1, 1])).rejects.toThrow('gone');
  }
});
