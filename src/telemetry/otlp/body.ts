import type { Readable } from 'node:stream';
import { type Gunzip, gunzip, gunzipSync, gzip } from 'node:zlib';
import { Semaphore } from '../../lib/semaphore.ts';
import { deflateOptions } from './compress.ts';

/** Asks for so many bytes of memory; false where there are none. */
export type Reserve = (bytes: number) => boolean;

/** How many bytes to make room for when `needed` do not fit into `room`. */
const roomFor = (needed: number, room: number, announced: number): number =>
  announced >= needed ? Math.min(announced, Math.max(needed, 2 * room)) : Math.max(needed, 2 * room);

/**
 * Reads a stream up to `limit` bytes; `announced`: how many it says that it holds, 0 where it does not. Where it holds
 * more, or memory is short, the rest flows away unread and the stream stays open, so that the client gets to read an
 * answer; the connection must be closed behind that. `reserve` is asked for every byte that is held.
 * Rejects where the stream breaks off.
 *
 * Chunks are copied together as they come: one byte a packet would otherwise hold a hundred times its size, and the
 * socket's buffers may hold the next request too.
 */
export const readBody = (
  stream: Readable,
  announced: number,
  limit: number,
  reserve: Reserve,
): Promise<Buffer | 'too large' | 'no memory'> =>
  new Promise((resolve, reject) => {
    let body: Buffer = Buffer.alloc(0);
    let size = 0;
    /** Room for `needed` bytes; false where memory is short. */
    const grow = (needed: number): boolean => {
      const room = roomFor(needed, body.length, announced);
      if (!reserve(room - body.length)) return false;
      const larger = Buffer.allocUnsafeSlow(room);
      body.copy(larger, 0, 0, size);
      body = larger;
      return true;
    };
    const refuse = (fault: 'too large' | 'no memory'): void => {
      stream.off('data', take);
      setImmediate(() => stream.resume());
      resolve(fault);
    };
    const take = (chunk: Buffer): void => {
      const needed = size + chunk.length;
      if (needed > limit) refuse('too large');
      else if (needed > body.length && !grow(needed)) refuse('no memory');
      else {
        chunk.copy(body, size);
        size = needed;
      }
    };
    const brokeOff = (): void => reject(new Error('the stream broke off'));
    // It has said so already, and says it no more.
    if (stream.destroyed) return brokeOff();
    stream.on('error', reject);
    stream.on('close', brokeOff);
    stream.on('end', () => resolve(body.subarray(0, size)));
    if (announced > limit) refuse('too large');
    else stream.on('data', take);
  });

/** Smaller bodies are inflated in place: a trip to the thread pool costs more than they do. */
const inPlace = 32 * 1024;
/** So many large bodies are inflated at a time, each to at most the limit, whatever comes in. */
const parallel = 4;

const smallestChunk = 16 * 1024;
const largestChunk = 1024 * 1024;

/**
 * How much room zlib is given at a time: as much as the body says that it inflates to (RFC 1952, 2.3.1), within
 * bounds, since it may lie. Each further piece would be another trip to the thread pool, 60 for 1 MB by default.
 */
const chunkSize = (body: Buffer, limit: number): number => {
  const said = body.length < 4 ? 0 : body.readUInt32LE(body.length - 4);
  return Math.max(smallestChunk, Math.min(said + 64, largestChunk, limit));
};

/** What is kept must not hold on to a larger buffer that it is a view of. */
const ownBytes = (bytes: Buffer): Buffer =>
  bytes.buffer.byteLength > 2 * bytes.length + smallestChunk ? Buffer.from(bytes) : bytes;

const turns = new Semaphore(parallel);

/** How every member begins (RFC 1952, 2.3.1): gzip, deflate. */
const memberStart = Buffer.from([0x1f, 0x8b, 8]);

/** What a gzip body holds. */
export interface Inflated {
  bytes: Buffer;
  /**
   * The body is for certain one member and nothing more: no second one can begin in it, and zlib has read all of it
   * (and checked its checksum). Backends that read only the first member would lose the rest in silence.
   */
  oneMember: boolean;
}

/** With `info: true` zlib answers this, which its types do not say. */
interface Informed {
  buffer: Buffer;
  engine: Gunzip;
}

const inflatedOf = (body: Buffer, { buffer, engine }: Informed): Inflated => ({
  bytes: ownBytes(buffer),
  oneMember: engine.bytesWritten === body.length && body.indexOf(memberStart, 1) < 0,
});

/**
 * Inflates gzip (RFC 1952, any number of members) to at most `limit` bytes: memory is bounded whatever the
 * body claims to hold. Never rejects.
 */
export const inflate = async (body: Buffer, limit: number): Promise<Inflated | 'too large' | 'malformed'> => {
  const options = { maxOutputLength: limit, chunkSize: chunkSize(body, limit), info: true };
  if (body.length <= inPlace) {
    try {
      return inflatedOf(body, gunzipSync(body, options) as unknown as Informed);
    } catch (error) {
      return faultOf(error);
    }
  }
  return turns.run(
    () =>
      new Promise((done) =>
        gunzip(body, options, (error, result) =>
          done(error ? faultOf(error) : inflatedOf(body, result as unknown as Informed)),
        ),
      ),
  );
};

const faultOf = (error: unknown): 'too large' | 'malformed' =>
  (error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE' ? 'too large' : 'malformed';

/** One gzip member, at the level that costs least; on the thread pool. */
export const deflate = (bytes: Buffer): Promise<Buffer> =>
  new Promise((done, fail) =>
    // Room for all of it as a rule: each further piece is another trip to the thread pool.
    gzip(
      bytes,
      { ...deflateOptions, chunkSize: Math.max(smallestChunk, bytes.length >> 1) },
      (error, member) => (error ? fail(error) : done(ownBytes(member))),
    ),
  );

/** Frees a body at once, whose memory is its own; nothing may use it any more. */
export const release = (bytes: Buffer): void => {
  // What is smaller may lie in Node's pool beside the bytes of others.
  if (bytes.buffer instanceof ArrayBuffer && 2 * bytes.length >= Buffer.poolSize) bytes.buffer.transfer(0);
};
