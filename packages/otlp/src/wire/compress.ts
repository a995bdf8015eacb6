import { constants, crc32, createDeflateRaw } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { compressWith, deflateChunk, fastDeflate } from './gzip.ts';

/** Requests of a batch; `key` names the bytes in the log, so that equal keys are equal bytes. */
interface Part {
  key: string;
  bytes: Buffer;
}

/** Compressed bytes that end on a byte and do not end the stream, so that others can follow. */
interface Fragment {
  deflated: Buffer;
  crc: number;
  /** Uncompressed. */
  length: number;
}

/** Parts below this are compressed together with their neighbours: each fragment costs a trip to the thread pool. */
const alone = 32 * 1024;

const largestChunk = 1024 * 1024;

/** Size of the recent fragments that are kept, in bytes: the other integrations need them in a moment. */
const cachedBytes = 16 * 1024 * 1024;

/** Approximate memory of a kept fragment next to its bytes: the entry, the key, and the objects of a Buffer. */
const entryBytes = (key: string): number => 500 + key.length;

// RFC 1952, 2.3: deflate, no flags, no time, "fastest", unknown system.
const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255]);
/** An empty last block (RFC 1951, 3.2.6). */
const lastBlock = Buffer.from([0x03, 0x00]);

/**
 * Compresses what is in the log once for all integrations, however their batches are cut: each part becomes a
 * fragment of raw deflate that ends with a sync flush, and joined fragments are one stream, so one gzip member
 * (backends that read only the first member would lose the others of a body).
 */
export class Compressor {
  readonly #fragments = new LRUCache<string, Fragment>({
    maxSize: cachedBytes,
    sizeCalculation: ({ deflated }, key) => deflated.length + entryBytes(key),
  });
  /** Fragments that are being compressed, so that no one compresses them again in the meantime. */
  readonly #pending = new Map<string, Promise<Fragment>>();

  /** Exactly one gzip member (RFC 1952) of all parts. */
  async member(parts: readonly Part[]): Promise<Buffer> {
    const fragments = await Promise.all(groupsOf(parts).map((group) => this.#fragment(group)));
    let crc = 0;
    let length = 0;
    for (const fragment of fragments) {
      crc = joinCrc(crc, fragment.crc, fragment.length);
      length += fragment.length;
    }
    const trailer = Buffer.alloc(8);
    trailer.writeUInt32LE(crc, 0);
    trailer.writeUInt32LE(length % 2 ** 32, 4);
    return Buffer.concat([header, ...fragments.map(({ deflated }) => deflated), lastBlock, trailer]);
  }

  #fragment(group: readonly Part[]): Fragment | Promise<Fragment> {
    // The name of every part: what lies between the first and the last differs from integration to integration.
    const key = group.map((part) => part.key).join();
    const known = this.#fragments.get(key) ?? this.#pending.get(key);
    if (known !== undefined) return known;
    const pending = compress(group)
      .then((fragment) => {
        this.#fragments.set(key, fragment);
        return fragment;
      })
      .finally(() => this.#pending.delete(key));
    this.#pending.set(key, pending);
    return pending;
  }
}

/** The parts in their order, in groups that become one fragment each. */
const groupsOf = (parts: readonly Part[]): Part[][] => {
  const groups: Part[][] = [];
  let open: Part[] | null = null;
  let size = 0;
  for (const part of parts) {
    if (part.bytes.length >= alone) {
      groups.push([part]);
      open = null;
      continue;
    }
    // Large enough to fill a thread for a moment, small enough that several threads share a batch.
    if (open === null || size > 8 * alone) {
      open = [];
      size = 0;
      groups.push(open);
    }
    open.push(part);
    size += part.bytes.length;
  }
  return groups;
};

const compress = async (group: readonly Part[]): Promise<Fragment> => {
  const bytes = group.length === 1 ? group[0]!.bytes : Buffer.concat(group.map((part) => part.bytes));
  const stream = createDeflateRaw({
    ...fastDeflate,
    finishFlush: constants.Z_SYNC_FLUSH,
    chunkSize: Math.min(deflateChunk(bytes), largestChunk),
  });
  return { deflated: await compressWith(stream, bytes), crc: crc32(bytes), length: bytes.length };
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

/** The CRC-32 of two byte strings joined, from theirs and the length of the second, as zlib's crc32_combine. */
export const joinCrc = (first: number, second: number, secondLength: number): number => {
  let shifted = first;
  for (let n = 0, rest = secondLength; rest > 0; n++, rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) shifted = multiply(powers[n]!, shifted);
  }
  return (shifted ^ second) >>> 0;
};
