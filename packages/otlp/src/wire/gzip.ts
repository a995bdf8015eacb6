import type { Transform } from 'node:stream';
import zlib from 'node:zlib';
import { Semaphore } from '../semaphore.ts';
import { release } from './request-body.ts';

/** Smaller bodies are inflated in place: a trip to the thread pool costs more than they do. */
const inPlaceUpTo = 32 * 1024;
/** And to no more than this: 600 bytes of zstd can be 19 MB, which would hold up everything else for 0.2 s. */
const inPlaceInflated = 1024 * 1024;
/** At most this many large bodies are inflated at once, each to at most the limit, however many arrive. */
const parallel = 4;

const smallestChunk = 16 * 1024;
const largestChunk = 1024 * 1024;

/**
 * Level 1. With longer blocks and a smaller window than zlib's defaults it takes 20 µs instead of 25 for a span of
 * 2 KB, and the result is no larger.
 */
export const fastDeflate = { level: 1, memLevel: 9, windowBits: 13 } as const;

/** Spans rarely inflate to more than this many times their size. */
const likelyRatio = 8;

/**
 * Returns the size of the chunk that zlib gets at a time: as much as the body says that it inflates to (RFC 1952,
 * 2.3.1), within bounds, since it may lie. Each further chunk would be another trip to the thread pool, 60 for 1 MB by
 * default, and all of them would be copied together.
 */
const inflateChunk = (body: Buffer, limit: number): number => {
  const declared = body.length < 4 ? 0 : body.readUInt32LE(body.length - 4);
  const most = Math.min(limit, Math.max(largestChunk, likelyRatio * body.length));
  return Math.max(smallestChunk, Math.min(declared + 64, most));
};

/** A small body is on a thread only because it inflates to far more than it was thought to. */
const chunkOnThread = (body: Buffer, likely: number): number =>
  body.length <= inPlaceUpTo ? largestChunk : likely;

/** Room for all of it as a rule, for the same reason. */
export const deflateChunk = (bytes: Buffer): number => Math.max(smallestChunk, bytes.length >> 1);

/**
 * The same bytes, in memory of their own if the buffer that they are a view of is more than twice as large and `spare`
 * more: what is kept must not hold on to all of that. `Buffer.from` would be a view again, of a pool of 64 KB.
 */
export const ownBytes = (bytes: Buffer, spare: number): Buffer => {
  if (bytes.buffer.byteLength <= 2 * bytes.length + spare) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
};

const largeBodies = new Semaphore(parallel);

/** Beginning of every member (RFC 1952, 2.3.1): gzip, deflate. */
const memberStart = Buffer.from([0x1f, 0x8b, 8]);

export interface Inflated {
  bytes: Buffer;
  /**
   * The body is certainly one gzip member and nothing more: no second one can begin in it, and zlib has read all of it
   * (and checked its checksum). Backends that read only the first member would silently lose the rest.
   */
  oneMember: boolean;
}

/** Result of zlib with `info: true`, which its types do not describe. */
interface WithEngine {
  buffer: Buffer;
  engine: zlib.Gunzip;
}

const toGunzipped = (body: Buffer, result: unknown): Inflated => {
  const { buffer, engine } = result as WithEngine;
  return {
    bytes: ownBytes(buffer, smallestChunk),
    oneMember: engine.bytesWritten === body.length && body.indexOf(memberStart, 1) < 0,
  };
};

const faultOf = (error: unknown): 'too large' | 'malformed' =>
  (error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE' ? 'too large' : 'malformed';

/**
 * Runs `inPlace`, up to a limit of its own, for a small body, and `onThread`, which has a callback, for a large one and
 * one that inflates to more. Never rejects.
 */
const inflate = async <T>(
  body: Buffer,
  limit: number,
  inPlace: (limit: number) => unknown,
  onThread: (done: (error: Error | null, result: unknown) => void) => void,
  toInflated: (result: unknown) => T,
): Promise<T | 'too large' | 'malformed'> => {
  if (body.length <= inPlaceUpTo) {
    const within = Math.min(limit, inPlaceInflated);
    try {
      return toInflated(inPlace(within));
    } catch (error) {
      const fault = faultOf(error);
      if (fault === 'malformed' || within === limit) return fault;
    }
  }
  return largeBodies.run(
    () =>
      new Promise((resolve) =>
        onThread((error, result) => resolve(error ? faultOf(error) : toInflated(result))),
      ),
  );
};

/**
 * Inflates gzip (RFC 1952, any number of members) to at most `limit` bytes: memory is bounded whatever the body
 * claims to hold. Never rejects.
 */
export const gunzip = (body: Buffer, limit: number): Promise<Inflated | 'too large' | 'malformed'> => {
  const options = (most: number, chunkSize: number) => ({ maxOutputLength: most, chunkSize, info: true });
  return inflate(
    body,
    limit,
    (most) => zlib.gunzipSync(body, options(most, inflateChunk(body, most))),
    (done) => zlib.gunzip(body, options(limit, chunkOnThread(body, inflateChunk(body, limit))), done),
    (result) => toGunzipped(body, result),
  );
};

/** Returns the number of bytes that one gzip member inflates to, as its end says (RFC 1952, 2.3.1). */
export const inflatedSize = (member: Buffer): number => member.readUInt32LE(member.length - 4);

/** Inflates gzip as `gunzip` does, but on the thread that calls it, however large the body is. Throws what zlib does. */
export const gunzipSync = (body: Buffer, limit: number): Buffer =>
  zlib.gunzipSync(body, { maxOutputLength: limit, chunkSize: inflateChunk(body, limit) });

/** The largest window of a frame in HTTP, as a power of two (RFC 9659): 8 MB. A frame may ask for gigabytes. */
const zstdWindow = { [zlib.constants.ZSTD_d_windowLogMax]: 23 };

/** Each costs 20 µs, and nine bytes can be one. Clients send one, or one for each part that they append. */
const mostFrames = 1_000;

/** Inflates zstd (RFC 8878, up to 1,000 frames) to at most `limit` bytes. Never rejects. */
export const unzstd = async (body: Buffer, limit: number): Promise<Inflated | 'too large' | 'malformed'> => {
  const parts: Buffer[] = [];
  let left = limit;
  for (let from = 0; from < body.length; ) {
    if (parts.length === mostFrames) return 'malformed';
    const part = await firstFrame(body.subarray(from), Math.max(left, 1));
    if (typeof part === 'string') return part;
    parts.push(part.bytes);
    left -= part.bytes.length;
    if (left < 0) return 'too large';
    if (part.read === 0) return 'malformed';
    from += part.read;
  }
  if (parts.length === 0) return 'malformed';
  return { bytes: parts.length === 1 ? parts[0]! : Buffer.concat(parts), oneMember: false };
};

/** Node 24 reads one frame and says nothing about those after it; Node 26 reads all of them. */
const firstFrame = (body: Buffer, limit: number) => {
  // Spans shrink to a third or less. Most frames do not say how much they hold.
  const likely = Math.max(smallestChunk, Math.min(4 * body.length, largestChunk, limit));
  const options = (most: number, chunkSize: number) => ({
    maxOutputLength: most,
    chunkSize,
    params: zstdWindow,
    info: true,
  });
  return inflate(
    body,
    limit,
    (most) => zlib.zstdDecompressSync(body, options(most, likely)),
    (done) => zlib.zstdDecompress(body, options(limit, chunkOnThread(body, likely)), done),
    (result) => {
      const { buffer, engine } = result as WithEngine;
      return { bytes: ownBytes(buffer, smallestChunk), read: engine.bytesWritten };
    },
  );
};

/**
 * Compresses bytes with a stream of node:zlib, on the thread pool, into memory of their own. The chunks that the stream
 * wrote are freed at once: left to the garbage collector they were two fifths of what receiving and storing traces left
 * to it. The function of node:zlib leaves them, because a stream gives its end as a piece of its own, and so copies.
 */
export const compressWith = (stream: Transform, bytes: Buffer): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    stream.on('data', (piece: Buffer) => pieces.push(piece));
    stream.on('error', reject);
    stream.on('end', () => {
      const compressed = Buffer.allocUnsafeSlow(pieces.reduce((sum, { length }) => sum + length, 0));
      let at = 0;
      for (const piece of pieces) at += piece.copy(compressed, at);
      for (const piece of pieces) release(piece);
      resolve(compressed);
    });
    stream.end(bytes);
  });

/** Compresses to one gzip member, at the cheapest level; on the thread pool. */
export const gzip = (bytes: Buffer): Promise<Buffer> =>
  compressWith(zlib.createGzip({ ...fastDeflate, chunkSize: deflateChunk(bytes) }), bytes);
