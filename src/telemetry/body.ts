import type { Readable } from 'node:stream';
import { crc32, gunzip, gunzipSync } from 'node:zlib';

/**
 * Reads a stream up to `limit` bytes. Where it holds more, or memory is short, the rest flows away unread and the
 * stream stays open, so that the client gets to read an answer; the connection must be closed behind that.
 * Rejects where the stream breaks off.
 */
export const readBody = async (
  stream: Readable,
  limit: number,
  reserve: (bytes: number) => boolean,
): Promise<Buffer | 'too large' | 'no memory'> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    const fault = size > limit ? 'too large' : reserve(chunk.length) ? null : 'no memory';
    if (fault !== null) {
      setImmediate(() => stream.resume());
      return fault;
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

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

let running = 0;
const waiting: (() => void)[] = [];

/**
 * Inflates gzip (RFC 1952, any number of members) to at most `limit` bytes: memory is bounded whatever the
 * body claims to hold. Never rejects.
 */
export const inflate = async (body: Buffer, limit: number): Promise<Buffer | 'too large' | 'malformed'> => {
  const options = { maxOutputLength: limit, chunkSize: chunkSize(body, limit) };
  if (body.length <= inPlace) {
    try {
      return ownBytes(gunzipSync(body, options));
    } catch (error) {
      return faultOf(error);
    }
  }
  if (running >= parallel) await new Promise<void>((turn) => waiting.push(turn));
  running++;
  try {
    return await new Promise((done) =>
      gunzip(body, options, (error, inflated) => done(error ? faultOf(error) : ownBytes(inflated))),
    );
  } finally {
    running--;
    waiting.shift()?.();
  }
};

const faultOf = (error: unknown): 'too large' | 'malformed' =>
  (error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE' ? 'too large' : 'malformed';

/** How every member begins (RFC 1952, 2.3.1): gzip, deflate. */
const memberStart = Buffer.from([0x1f, 0x8b, 8]);

/**
 * Whether a gzip body is for certain one member and nothing more: no second one can begin, and the trailer at its
 * end is that of all of `inflated`. Backends that read only the first member would lose the rest in silence.
 */
export const isOneMember = (body: Buffer, inflated: Buffer): boolean =>
  body.length >= 18 &&
  body.indexOf(memberStart, 1) < 0 &&
  body.readUInt32LE(body.length - 4) === inflated.length &&
  body.readUInt32LE(body.length - 8) === crc32(inflated);
