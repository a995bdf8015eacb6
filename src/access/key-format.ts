import { createHash, randomBytes } from 'node:crypto';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const base62 = (bytes: Buffer, length: number): string => {
  let n = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  for (let i = 0; i < length; i++) {
    text = alphabet[Number(n % 62n)]! + text;
    n /= 62n;
  }
  return text;
};

const checksum = (body: string): string =>
  base62(createHash('sha256').update(body).digest().subarray(0, 8), 6);

/** A new key's value: `ap_`, 43 base62 characters (256 bits), and 6 of checksum, by which a scanner knows one. */
export const newKeyValue = (): string => {
  const body = base62(randomBytes(32), 43);
  return `ap_${body}${checksum(body)}`;
};

/** Whether `value` can be one of our keys at all; a mistyped one is refused without asking the database. */
export const isKeyValue = (value: string): boolean => {
  const match = /^ap_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/.exec(value);
  return match !== null && checksum(match[1]!) === match[2];
};

/** What is kept to recognise a key by. */
export const keyPrefix = (value: string): string => value.slice(0, 10);
