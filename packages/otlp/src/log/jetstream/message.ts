import { crc32 } from 'node:zlib';
import type { Slice } from '../log.ts';
import { type Accepted, nothingAccepted } from '../record.ts';
import { readSlices, sliceTableLength, writeSlices } from '../slice-table.ts';

/**
 * A record in the stream is a message on the subject `head` whose headers say what it holds, so that counting needs no
 * bodies:
 *
 *     Ap-Account: NUMBER=SPANS/BYTES,…   what it holds for each integration
 *     Ap-Crc: eight hex digits           of the body
 *     Ap-Upload: ID                      } of a body that is larger than a message may be: it is in the messages
 *     Ap-Chunks: SEQ,SEQ,…               } on the subject `chunk` that came before and carry the same Ap-Upload
 *
 * The body: u16 slices, their table (slice-table.ts), then their bytes. All little-endian.
 */
export interface Head {
  seq: number;
  /** Time at which the server stored it, ms since 1970. */
  time: number;
  /** Spans and bytes that it holds for each integration. */
  accepted: ReadonlyMap<number, Accepted>;
  crc: number;
  /** Sequence numbers of the messages that hold the body; empty: it is in this one. */
  chunks: readonly number[];
  upload: string | null;
}

export const headerNames = {
  account: 'Ap-Account',
  crc: 'Ap-Crc',
  upload: 'Ap-Upload',
  chunks: 'Ap-Chunks',
} as const;

/** A server takes 64 KiB of headers in a message; room is left for its own. */
const maxAccount = 56 * 1024;

/** The body of a record and its headers. Null if it goes to more integrations than the headers can name. */
export const encodeRecord = (
  slices: readonly Slice[],
): { body: Buffer; headers: Record<string, string> } | null => {
  const accepted = new Map<number, Accepted>();
  for (const { bytes, spans, routes } of slices) {
    for (const number of routes) {
      const before = accepted.get(number) ?? nothingAccepted;
      accepted.set(number, { spans: before.spans + spans, bytes: before.bytes + bytes.length });
    }
  }
  const text = [...accepted].map(([number, { spans, bytes }]) => `${number}=${spans}/${bytes}`).join();
  if (text.length > maxAccount) return null;
  const head = Buffer.allocUnsafe(2 + sliceTableLength(slices));
  head.writeUInt16LE(slices.length, 0);
  writeSlices(head, 2, slices);
  const body = Buffer.concat([head, ...slices.map(({ bytes }) => bytes)]);
  return {
    body,
    headers: {
      [headerNames.account]: text,
      [headerNames.crc]: crc32(body).toString(16).padStart(8, '0'),
    },
  };
};

/** The slices of a body; null if it is not what was written. Their bytes are views of it. */
export const decodeBody = (body: Buffer, crc: number): Slice[] | null => {
  if (crc32(body) !== crc) return null;
  const { slices, end } = readSlices(body, 2, body.readUInt16LE(0), 0);
  return slices.map(({ at, length, ...slice }) => ({
    ...slice,
    bytes: body.subarray(end + at, end + at + length),
  }));
};

/** The head that these headers encode; null if they were not written by this file. */
export const decodeHead = (header: (name: string) => string, seq: number, time: number): Head | null => {
  const crc = header(headerNames.crc);
  if (!/^[0-9a-f]{8}$/.test(crc)) return null;
  const accepted = new Map<number, Accepted>();
  for (const entry of header(headerNames.account).split(',')) {
    const [number, spans, bytes] = entry.split(/[=/]/).map(Number);
    if (!Number.isInteger(number) || !Number.isInteger(spans) || !Number.isInteger(bytes)) return null;
    accepted.set(number!, { spans: spans!, bytes: bytes! });
  }
  const chunks = header(headerNames.chunks);
  return {
    seq,
    time,
    accepted,
    crc: Number.parseInt(crc, 16),
    chunks: chunks === '' ? [] : chunks.split(',').map(Number),
    upload: header(headerNames.upload) || null,
  };
};
