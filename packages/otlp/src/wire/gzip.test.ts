import { gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { gunzip, unzstd } from './gzip.ts';

const limit = 20 * 1024 * 1024;

test.each([
  ['gzip', gunzip, gzipSync],
  ['zstd', unzstd, zstdCompressSync],
] as const)(
  'other requests do not wait for a small %s body that inflates to megabytes',
  async (_name, inflate, compress) => {
    const inflated = async (length: number) => {
      let othersRan = false;
      setImmediate(() => {
        othersRan = true;
      });
      const body = compress(Buffer.alloc(length));
      expect(body.length).toBeLessThan(32 * 1024);
      const result = await inflate(body, limit);
      return [typeof result === 'string' ? result : result.bytes.length, othersRan];
    };
    expect(await inflated(100_000)).toEqual([100_000, false]);
    expect(await inflated(10_000_000)).toEqual([10_000_000, true]);
    expect(await inflated(limit + 1)).toEqual(['too large', true]);
  },
);
