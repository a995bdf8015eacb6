import { crc32, inflateRawSync } from 'node:zlib';

/** Offset of the deflate data after a gzip header (RFC 1952, section 2.3). */
function headerLength(body: Buffer): number {
  if (body[0] !== 0x1f || body[1] !== 0x8b || body[2] !== 8) throw new Error('gzip: not a gzip header');
  const flags = body[3]!;
  let at = 10;
  if (flags & 4) at += 2 + body.readUInt16LE(at);
  for (const text of [8, 16])
    if (flags & text) {
      const end = body.indexOf(0, at);
      if (end === -1) throw new Error('gzip: the header is cut off');
      at = end + 1;
    }
  return flags & 2 ? at + 2 : at;
}

/**
 * The contents of a body that is exactly one gzip member, with nothing after it. `zlib.gunzip` also reads a second
 * member and ignores trailing bytes; a backend that reads only the first would lose spans in silence.
 */
export function gunzipOneMember(body: Buffer): Buffer {
  const start = headerLength(body);
  const { buffer, engine } = inflateRawSync(body.subarray(start), { info: true } as never) as unknown as {
    buffer: Buffer;
    engine: { bytesWritten: number };
  };
  const trailer = start + engine.bytesWritten;
  if (trailer + 8 > body.length) throw new Error('gzip: the trailer is cut off');
  if (trailer + 8 !== body.length)
    throw new Error(`gzip: ${body.length - trailer - 8} bytes after the first member`);
  if (body.readUInt32LE(trailer) !== crc32(buffer)) throw new Error('gzip: wrong checksum');
  if (body.readUInt32LE(trailer + 4) !== buffer.length % 2 ** 32) throw new Error('gzip: wrong length');
  return buffer;
}
