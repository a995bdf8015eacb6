/**
 * Reads protobuf's wire format (https://protobuf.dev/programming-guides/encoding/), as little of it as scanning needs.
 * A reader is a position in a buffer; anything malformed sets `bad` and moves to the end, so that loops end by
 * themselves and nothing throws while a request is received.
 */
export class WireReader {
  buffer: Buffer;
  at: number;
  bad = false;

  constructor(buffer: Buffer) {
    this.buffer = buffer;
    this.at = 0;
  }

  /** Returns the end of the buffer, as the end of a field that could not be read. */
  fail(): number {
    this.bad = true;
    this.at = this.buffer.length;
    return this.at;
  }

  /** A varint of at most 32 bits: tags and lengths. */
  varint32(end: number): number {
    // Nearly all take one byte: this method is small enough to be inlined into its callers.
    const byte = this.at < end ? this.buffer[this.at]! : 0x80;
    if (byte >= 0x80) return this.#longVarint32(end);
    this.at++;
    return byte;
  }

  #longVarint32(end: number): number {
    const buffer = this.buffer;
    let value = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      if (this.at >= end) return this.fail();
      const byte = buffer[this.at++]!;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    const last = this.at < end ? buffer[this.at++]! : 0x80;
    return last < 0x10 ? value + last * 2 ** 28 : this.fail();
  }

  /** A varint of up to 64 bits as a number (exact up to 2^53). */
  varint64(end: number): number {
    let value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.at >= end) return this.fail();
      const byte = this.buffer[this.at++]!;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    return this.fail();
  }

  /** Reads a length and returns where that field ends; it does not move into it. */
  fieldEnd(end: number): number {
    const length = this.varint32(end);
    const fieldEnd = this.at + length;
    return fieldEnd > end ? this.fail() : fieldEnd;
  }

  /** Moves past the value of a field with this tag. */
  skipField(tag: number, end: number, depth = 0): void {
    switch (tag & 7) {
      case 0: {
        for (let n = 0; n < 10; n++) {
          if (this.at >= end) return void this.fail();
          if (this.buffer[this.at++]! < 0x80) return;
        }
        return void this.fail();
      }
      case 1:
        this.at += 8;
        break;
      case 2:
        this.at = this.fieldEnd(end);
        return;
      case 3:
        // A group: a field type of proto2 that may be among the unknown ones.
        while (this.at < end && depth < 32) {
          const inner = this.varint32(end);
          if ((inner & 7) === 4) {
            if (inner >>> 3 !== tag >>> 3) this.fail();
            return;
          }
          this.skipField(inner, end, depth + 1);
        }
        return void this.fail();
      case 5:
        this.at += 4;
        break;
      default:
        return void this.fail();
    }
    if (this.at > end) this.fail();
  }

  /** A field's tag; after `fail` if it is malformed or its number is 0. */
  tag(end: number): number {
    const tag = this.varint32(end);
    return tag < 8 ? this.fail() : tag;
  }
}

export const varint = (value: number): Buffer => {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
  return Buffer.from(bytes);
};

/** A length-delimited field. */
export const field = (number: number, content: Buffer): Buffer =>
  Buffer.concat([varint(number * 8 + 2), varint(content.length), content]);

/** A varint field of a number that is not negative. */
export const varintField = (number: number, value: number): Buffer =>
  Buffer.concat([varint(number * 8), varint(value)]);
