import { promisify } from 'node:util';
import { constants, crc32, deflateRaw } from 'node:zlib';

const deflate = promisify(deflateRaw);

/** Requests of a batch; `key` names the bytes in the log, so that equal keys are equal bytes. */
interface Part {
  key: string;
  bytes: Buffer;
}

/** Compressed bytes that end on a byte and are no end of a stream, so that others can follow. */
interface Fragment {
  deflated: Buffer;
  crc: number;
  /** Uncompressed. */
  length: number;
}

/** Parts below this are compressed together with their neighbours: each fragment costs a trip to the thread pool. */
const alone = 32 * 1024;

/**
 * For zlib. With longer blocks and a smaller window than its defaults level 1 takes 20 µs instead of 25 for a span of
 * 2 KB, and the result is no larger.
 */
export const deflateOptions = { level: 1, memLevel: 9, windowBits: 13 } as const;

/** What was compressed lately is kept up to so many bytes: the other integrations want it in a moment. */
const keptBytes = 16 * 1024 * 1024;

// RFC 1952, 2.3: deflate, no flags, no time, "fastest", unknown system.
const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255]);
/** An empty last block (RFC 1951, 3.2.6). */
const lastBlock = Buffer.from([0x03, 0x00]);

/**
 * Compresses what is in the log once for all integrations, however their batches are cut: each part becomes a
 * fragment of raw deflate that ends with a sync flush, and fragments joined are one stream, so one gzip member
 * (several members in one body would be lost by backends that read only the first).
 */
export class Compressor {
  readonly #fragments = new Map<string, { fragment: Promise<Fragment>; bytes: number }>();
  #kept = 0;

  /** Exactly one gzip member (RFC 1952) of all parts. */
  async member(parts: readonly Part[]): Promise<Buffer> {
    const fragments = await Promise.all(pieces(parts).map((piece) => this.#fragment(piece)));
    let crc = 0;
    let length = 0;
    for (const one of fragments) {
      crc = joinCrc(crc, one.crc, one.length);
      length += one.length;
    }
    const trailer = Buffer.alloc(8);
    trailer.writeUInt32LE(crc, 0);
    trailer.writeUInt32LE(length % 2 ** 32, 4);
    return Buffer.concat([header, ...fragments.map(({ deflated }) => deflated), lastBlock, trailer]);
  }

  #fragment(piece: readonly Part[]): Promise<Fragment> {
    // Each by its name: what lies between the first and the last differs from integration to integration.
    const key = piece.map((part) => part.key).join();
    const known = this.#fragments.get(key);
    if (known !== undefined) {
      // The one that was used last goes last.
      this.#fragments.delete(key);
      this.#fragments.set(key, known);
      return known.fragment;
    }
    const entry = { fragment: compressed(piece), bytes: 0 };
    this.#fragments.set(key, entry);
    entry.fragment.then(
      ({ deflated }) => {
        if (this.#fragments.get(key) !== entry) return;
        entry.bytes = deflated.length;
        this.#kept += entry.bytes;
        for (const [oldest, { bytes }] of this.#fragments) {
          if (this.#kept <= keptBytes) break;
          this.#fragments.delete(oldest);
          this.#kept -= bytes;
        }
      },
      () => this.#fragments.delete(key),
    );
    return entry.fragment;
  }
}

const pieces = (parts: readonly Part[]): Part[][] => {
  const found: Part[][] = [];
  let open: Part[] | null = null;
  let size = 0;
  for (const part of parts) {
    if (part.bytes.length >= alone) {
      found.push([part]);
      open = null;
      continue;
    }
    // Large enough to fill a thread for a moment, small enough that several threads share a batch.
    if (open === null || size > 8 * alone) {
      open = [];
      size = 0;
      found.push(open);
    }
    open.push(part);
    size += part.bytes.length;
  }
  return found;
};

const compressed = async (piece: readonly Part[]): Promise<Fragment> => {
  const bytes = piece.length === 1 ? piece[0]!.bytes : Buffer.concat(piece.map((part) => part.bytes));
  const deflated = await deflate(bytes, {
    ...deflateOptions,
    finishFlush: constants.Z_SYNC_FLUSH,
    // Room for all of it at once as a rule: each further piece is another trip to the thread pool.
    chunkSize: Math.max(16 * 1024, Math.min(bytes.length >> 1, 1024 * 1024)),
  });
  // zlib's buffer may be a view of a larger chunk, which would be kept with it.
  const own = deflated.buffer.byteLength > 2 * deflated.length ? Buffer.from(deflated) : deflated;
  return { deflated: own, crc: crc32(bytes), length: bytes.length };
};

/** CRC-32's polynomial, the lowest power of x in the highest bit. */
const polynomial = 0xedb88320;

/** a·b modulo the polynomial. */
const multiply = (a: number, b: number): number => {
  let product = 0;
  let power = b;
  for (let bit = 0x80000000; bit !== 0; bit >>>= 1) {
    if (a & bit) product ^= power;
    power = power & 1 ? (power >>> 1) ^ polynomial : power >>> 1;
  }
  return product >>> 0;
};

/** x^(8·2^n) for n from 0 on. */
const powers: number[] = [0x00800000];
for (let n = 1; n < 40; n++) powers.push(multiply(powers[n - 1]!, powers[n - 1]!));

/** The CRC-32 of two pieces one after the other, from theirs and the length of the second, as zlib's crc32_combine. */
export const joinCrc = (first: number, second: number, secondLength: number): number => {
  let shifted = first;
  for (let n = 0, rest = secondLength; rest > 0; n++, rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) shifted = multiply(powers[n]!, shifted);
  }
  return (shifted ^ second) >>> 0;
};
