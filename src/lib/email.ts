import { characters } from './text.ts';

const maxAddress = 254;

/** A part of an address between dots, without the characters that need quotes or that no one sees. */
const atom = String.raw`[^\s\p{C}@."(),:;<>\[\\\]]+`;
const label = String.raw`[\p{L}\p{M}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?`;
const address = new RegExp(String.raw`^${atom}(?:\.${atom})*@${label}(?:\.${label})+$`, 'u');

/** Returns `text` with the letters A to Z in lower case. Other letters stay: the sign of the kelvin is no `k`. */
export const asciiLower = (text: string): string =>
  text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

/**
 * Returns an e-mail address in ASCII lower case; null if `text` is not one. An address is `local@domain.tld` with one
 * `@`, a local part without quotes, blanks or invisible characters, and at most 254 characters.
 */
export const emailAddress = (text: unknown): string | null =>
  typeof text === 'string' &&
  text.length <= 2 * maxAddress &&
  characters(text) <= maxAddress &&
  address.test(text)
    ? asciiLower(text)
    : null;

/** Returns `@domain` of an e-mail in ASCII lower case; null unless it has one `@`, with something on both sides. */
export const emailDomain = (email: string): string | null => {
  const [local, domain, ...rest] = email.split('@');
  return local && domain && rest.length === 0 ? `@${asciiLower(domain)}` : null;
};
