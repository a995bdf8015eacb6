import { promisify } from 'node:util';
import { constants, createZstdCompress, zstdDecompress } from 'node:zlib';
import { compressWith, joinSpans, release, type SpansAround } from '@agent-platform/otlp';
import { Semaphore } from '../lib/semaphore.ts';
import type { TracePiece } from './pieces.ts';

/** Bytes of spans in one block. Larger ones compress no better, and a read of one trace would read more of others. */
const blockBytes = 256 * 1024;

/** Each has memory of its own. */
const packedAtOnce = 2;

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

/** Spans shrink to a third or less. One chunk holds the result: each further one would be a trip to the thread pool. */
const pack = async (bytes: Buffer): Promise<Buffer> => {
  const stream = createZstdCompress({
    chunkSize: Math.max(smallestChunk, bytes.length >> 1),
    // A level more is no smaller, and a window of more than the block only more memory: together twice the CPU.
    params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_windowLog]: 18 },
  });
  const content = await compressWith(stream, bytes);
  release(bytes);
  return content;
};

/** The bytes of a block. They were written by `packBlocks`, so their size is known to be reasonable. */
export const unpackBlock = (content: Buffer): Promise<Buffer> =>
  decompress(content, { chunkSize: Math.max(blockBytes + smallestChunk, 2 * content.length) });

/**
 * Packs the spans of traces into blocks, trace by trace: spans of one trace are alike, and are read together. Resolves to
 * the blocks, and to the indexes of those that hold each trace.
 */
export const packBlocks = async (
  pieces: Iterable<TracePiece>,
): Promise<{ blocks: Block[]; blocksOf: Map<string, number[]> }> => {
  const open: OpenBlock[] = [];
  const blocksOf = new Map<string, number[]>();
  let block: OpenBlock | undefined;
  for (const { traceId, spans: groups } of pieces) {
    const indexes: number[] = [];
    for (const { around, spans } of groups) {
      let from = 0;
      const put = (to: number): void => {
        if (to > from) block!.groups.push({ around, spans: spans.slice(from, to) });
        from = to;
      };
      for (const [i, span] of spans.entries()) {
        if (block === undefined || (block.spans > 0 && block.bytes + span.length > blockBytes)) {
          if (block) put(i);
          block = { groups: [], spans: 0, bytes: 0 };
          open.push(block);
        }
        if (indexes.at(-1) !== open.length - 1) indexes.push(open.length - 1);
        block.spans++;
        block.bytes += span.length;
      }
      put(spans.length);
    }
    blocksOf.set(traceId, indexes);
  }
  const atOnce = new Semaphore(packedAtOnce);
  const blocks = await Promise.all(
    open.map(({ groups, spans }) =>
      atOnce.run(async () => ({ spans, content: await pack(joinSpans(groups)) })),
    ),
  );
  return { blocks, blocksOf };
};
