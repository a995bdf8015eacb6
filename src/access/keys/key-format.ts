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

/**
 * Returns the value of a new key: `ap_`, 43 base62 characters (256 bits), and a checksum of 6, by which secret scanners
 * recognise a key.
 */
export const newKeyValue = (): string => {
  const body = base62(randomBytes(32), 43);
  return `ap_${body}${checksum(body)}`;
};

/** Returns whether `value` has the form and checksum of a key; a mistyped key is refused without a query. */
export const isKeyValue = (value: string): boolean => {
  const match = /^ap_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/.exec(value);
  return match !== null && checksum(match[1]!) === match[2];
};

/** The first characters of a key, stored so that people can recognise it. */
export const keyPrefix = (value: string): string => value.slice(0, 10);
