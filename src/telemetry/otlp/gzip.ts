import zlib from 'node:zlib';
import { Semaphore } from '../../lib/semaphore.ts';

/** Smaller bodies are inflated in place: a trip to the thread pool costs more than they do. */
const inPlace = 32 * 1024;
/** At most this many large bodies are inflated at once, each to at most the limit, however many arrive. */
const parallel = 4;

const smallestChunk = 16 * 1024;
const largestChunk = 1024 * 1024;

/**
 * Level 1. With longer blocks and a smaller window than zlib's defaults it takes 20 µs instead of 25 for a span of
 * 2 KB, and the result is no larger.
 */
export const fastDeflate = { level: 1, memLevel: 9, windowBits: 13 } as const;

/**
 * How much room zlib gets at a time: as much as the body says that it inflates to (RFC 1952, 2.3.1), within bounds,
 * since it may lie. Each further chunk would be another trip to the thread pool, 60 for 1 MB by default.
 */
const inflateChunk = (body: Buffer, limit: number): number => {
  const declared = body.length < 4 ? 0 : body.readUInt32LE(body.length - 4);
  return Math.max(smallestChunk, Math.min(declared + 64, largestChunk, limit));
};

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

/** How every member begins (RFC 1952, 2.3.1): gzip, deflate. */
const memberStart = Buffer.from([0x1f, 0x8b, 8]);

/** What a gzip body holds. */
export interface Gunzipped {
  bytes: Buffer;
  /**
   * The body is certainly one member and nothing more: no second one can begin in it, and zlib has read all of it
   * (and checked its checksum). Backends that read only the first member would silently lose the rest.
   */
  oneMember: boolean;
}

/** What zlib returns with `info: true`; its types do not say so. */
interface WithEngine {
  buffer: Buffer;
  engine: zlib.Gunzip;
}

const toGunzipped = (body: Buffer, result: unknown): Gunzipped => {
  const { buffer, engine } = result as WithEngine;
  return {
    bytes: ownBytes(buffer, smallestChunk),
    oneMember: engine.bytesWritten === body.length && body.indexOf(memberStart, 1) < 0,
  };
};

const faultOf = (error: unknown): 'too large' | 'malformed' =>
  (error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE' ? 'too large' : 'malformed';

/**
 * Inflates gzip (RFC 1952, any number of members) to at most `limit` bytes: memory is bounded whatever the body
 * claims to hold. Never rejects.
 */
export const gunzip = async (body: Buffer, limit: number): Promise<Gunzipped | 'too large' | 'malformed'> => {
  const options = { maxOutputLength: limit, chunkSize: inflateChunk(body, limit), info: true };
  if (body.length <= inPlace) {
    try {
      return toGunzipped(body, zlib.gunzipSync(body, options));
    } catch (error) {
      return faultOf(error);
    }
  }
  return largeBodies.run(
    () =>
      new Promise((resolve) =>
        zlib.gunzip(body, options, (error, result) =>
          resolve(error ? faultOf(error) : toGunzipped(body, result)),
        ),
      ),
  );
};

/** Compresses to one gzip member, at the cheapest level; on the thread pool. */
export const gzip = (bytes: Buffer): Promise<Buffer> =>
  new Promise((resolve, reject) =>
    zlib.gzip(bytes, { ...fastDeflate, chunkSize: deflateChunk(bytes) }, (error, member) =>
      error ? reject(error) : resolve(ownBytes(member, smallestChunk)),
    ),
  );
