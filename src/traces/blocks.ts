import { promisify } from 'node:util';
import { constants, zstdCompressSync, zstdDecompress } from 'node:zlib';
import { joinSpans, release, type SpansAround } from '@agent-platform/otlp';
import type { TracePiece } from './pieces.ts';

/** Bytes of spans in one block. Larger ones compress no better, and a read of one trace would read more of others. */
const blockBytes = 256 * 1024;

/** A block before it is compressed. */
interface OpenBlock {
  groups: SpansAround[];
  spans: number;
  bytes: number;
}

export interface Block {
  spans: number;
  content: Buffer;
}

const decompress = promisify(zstdDecompress);
const smallestChunk = 16 * 1024;

/** Compresses a block into memory of its own. Spans shrink to a third or less: one chunk holds the result. */
const pack = (bytes: Buffer): Buffer => {
  const compressed = zstdCompressSync(bytes, {
    chunkSize: Math.max(smallestChunk, bytes.length >> 1),
    // A level more is no smaller, and a window of more than the block only more memory: together twice the CPU.
    params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_windowLog]: 18 },
  });
  const content = Buffer.allocUnsafeSlow(compressed.length);
  compressed.copy(content);
  release(compressed);
  release(bytes);
  return content;
};

/** The bytes of a block. They were written by `packBlocks`, so their size is known to be reasonable. */
export const unpackBlock = (content: Buffer): Promise<Buffer> =>
  decompress(content, { chunkSize: Math.max(blockBytes + smallestChunk, 2 * content.length) });

/**
 * Packs the spans of traces into blocks, trace by trace: spans of one trace are alike, and are read together. Returns the
 * blocks, and for each trace the indexes of those that hold it.
 */
export const packBlocks = (pieces: Iterable<TracePiece>): { blocks: Block[]; blocksOf: number[][] } => {
  const open: OpenBlock[] = [];
  const blocksOf: number[][] = [];
  let block: OpenBlock | undefined;
  for (const { spans: groups } of pieces) {
    const indexes: number[] = [];
    for (const { around, bytes, ranges } of groups) {
      let from = 0;
      const put = (to: number): void => {
        if (to > from) block!.groups.push({ around, bytes, ranges: ranges.slice(from, to) });
        from = to;
      };
      for (let i = 0; i < ranges.length; i += 2) {
        const size = ranges[i + 1]! - ranges[i]!;
        if (block === undefined || (block.spans > 0 && block.bytes + size > blockBytes)) {
          if (block) put(i);
          block = { groups: [], spans: 0, bytes: 0 };
          open.push(block);
        }
        if (indexes.at(-1) !== open.length - 1) indexes.push(open.length - 1);
        block.spans++;
        block.bytes += size;
      }
      put(ranges.length);
    }
    blocksOf.push(indexes);
  }
  return {
    blocks: open.map(({ groups, spans }) => ({ spans, content: pack(joinSpans(groups)) })),
    blocksOf,
  };
};
