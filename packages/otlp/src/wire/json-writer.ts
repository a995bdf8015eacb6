/**
 * Writes protobuf from the end of a buffer towards its beginning: when a nested message is complete, its length is
 * known and goes in front of it, so nothing is measured twice or moved. Therefore fields, and the items of a list, are
 * written in reverse order.
 */
export class BackwardWriter {
  #buffer: Buffer;
  /** Offset of the first written byte. */
  #at: number;

  constructor(sizeHint: number) {
    this.#buffer = Buffer.allocUnsafeSlow(Math.max(256, sizeHint));
    this.#at = this.#buffer.length;
  }

  /** Returns the number of written bytes. Pass it to `endMessage` when the message that begins here is complete. */
  mark(): number {
    return this.#buffer.length - this.#at;
  }

  endMessage(number: number, mark: number): void {
    this.#room(20);
    this.#varint(this.mark() - mark);
    this.#varint(number * 8 + 2);
  }

  textField(number: number, text: string): void {
    const length = Buffer.byteLength(text);
    this.#room(length + 20);
    this.#at -= length;
    this.#buffer.write(text, this.#at, length, 'utf8');
    this.#varint(length);
    this.#varint(number * 8 + 2);
  }

  bytesField(number: number, bytes: Buffer): void {
    this.#room(bytes.length + 20);
    this.#at -= bytes.length;
    bytes.copy(this.#buffer, this.#at);
    this.#varint(bytes.length);
    this.#varint(number * 8 + 2);
  }

  /** `value`: 0 to 2^64 - 1, as a number to 2^53 - 1 (negative integers as their two's complement). */
  varintField(number: number, value: bigint | number): void {
    this.#room(20);
    if (typeof value === 'number') this.#varint(value);
    else if (value <= 0x1fffffffffffffn) this.#varint(Number(value));
    else this.#bigVarint(value);
    this.#varint(number * 8);
  }

  doubleField(number: number, value: number): void {
    this.#room(20);
    this.#at -= 8;
    this.#buffer.writeDoubleLE(value, this.#at);
    this.#varint(number * 8 + 1);
  }

  fixed64Field(number: number, value: bigint): void {
    this.#room(20);
    this.#at -= 8;
    this.#buffer.writeBigUInt64LE(value, this.#at);
    this.#varint(number * 8 + 1);
  }

  fixed32Field(number: number, value: number): void {
    this.#room(20);
    this.#at -= 4;
    this.#buffer.writeUInt32LE(value, this.#at);
    this.#varint(number * 8 + 5);
  }

  /** Everything that was written. */
  finish(): Buffer {
    return this.#buffer.subarray(this.#at);
  }

  #varint(value: number): void {
    let length = 1;
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) length++;
    this.#at -= length;
    let at = this.#at;
    let rest = value;
    while (rest >= 0x80) {
      this.#buffer[at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#buffer[at] = rest;
  }

  #bigVarint(value: bigint): void {
    const bytes: number[] = [];
    let rest = value;
    while (rest >= 0x80n) {
      bytes.push(Number(rest & 0x7fn) | 0x80);
      rest >>= 7n;
    }
    bytes.push(Number(rest));
    this.#at -= bytes.length;
    this.#buffer.set(bytes, this.#at);
  }

  #room(bytes: number): void {
    if (this.#at >= bytes) return;
    const used = this.mark();
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#buffer.length * 2, used + bytes + 256));
    this.#buffer.copy(larger, larger.length - used, this.#at);
    this.#buffer = larger;
    this.#at = larger.length - used;
  }
}
