import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { crc32, gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { gunzipOneMember } from '../../tests/gzip.ts';
import { Compressor, joinCrc } from './compress.ts';
import { ownBytes } from './gzip.ts';

test('the checksum of two joined byte strings comes from their checksums', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ maxLength: 70_000 }), (a, b) => {
      expect(joinCrc(crc32(a), crc32(b), b.length)).toBe(crc32(Buffer.concat([a, b])));
    }),
  );
});

test('any parts make one gzip member of their bytes, in order, whatever was compressed before', async () => {
  const compressor = new Compressor();
  const size = fc.oneof(fc.integer({ min: 0, max: 3_000 }), fc.integer({ min: 32_000, max: 90_000 }));
  let made = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(size, { minLength: 1, maxLength: 8 }), fc.nat(7), async (sizes, from) => {
      const parts = sizes.map((length) => {
        const key = String(made++);
        return { key, bytes: Buffer.alloc(length, `${key} some text `) };
      });
      // Another integration's batch begins elsewhere: it shares the fragments that it can.
      for (const batch of [parts, parts.slice(from % parts.length), parts]) {
        const member = await compressor.member(batch);
        const plain = Buffer.concat(batch.map(({ bytes }) => bytes));
        expect(gunzipOneMember(member).equals(plain)).toBe(true);
        expect(gunzipSync(member).equals(plain)).toBe(true);
      }
    }),
    { numRuns: 40 },
  );
});

test('a large part is compressed once for all batches that hold it', async () => {
  const compressor = new Compressor();
  const large = { key: 'large', bytes: Buffer.alloc(100_000, 'large ') };
  const first = await compressor.member([large]);
  // If it were compressed again, the result would hold these bytes.
  const other = await compressor.member([
    { key: 'small', bytes: Buffer.from('small') },
    { ...large, bytes: Buffer.alloc(100_000, 'other ') },
  ]);
  expect(other.includes(first.subarray(10, -10))).toBe(true);
});

test('two batches that begin and end alike but differ in between are not mixed up', async () => {
  const compressor = new Compressor();
  const [a, b, c] = ['a', 'b', 'c'].map((key) => ({ key, bytes: Buffer.from(`text of ${key}`) }));
  const all = await compressor.member([a!, b!, c!]);
  const some = await compressor.member([a!, c!]);
  expect(gunzipOneMember(all).toString()).toBe('text of atext of btext of c');
  expect(gunzipOneMember(some).toString()).toBe('text of atext of c');
});

test('small requests that are kept hold no memory but their own', async () => {
  const small = Buffer.from('a small part');
  expect(small.buffer.byteLength).toBeGreaterThan(10_000);
  expect(ownBytes(small, 0).buffer.byteLength).toBe(small.length);

  const compressor = new Compressor();
  const before = process.memoryUsage().arrayBuffers;
  for (let i = 0; i < 400; i++) {
    await compressor.member([{ key: String(i), bytes: Buffer.from(`part ${i}`) }]);
    // Other allocations of a busy process lie between them.
    for (let n = 0; n < 3; n++) Buffer.allocUnsafe(30_000);
  }
  // 400 pools of 64 KB are 26 MB. What no one holds any more is counted until a garbage collection, whose threads may be late.
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  await expect
    .poll(() => {
      collect();
      return process.memoryUsage().arrayBuffers - before;
    })
    .toBeLessThan(10_000_000);
});
