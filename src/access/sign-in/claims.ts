import { parseJson } from '../../lib/json.ts';
import { isObject } from '../../lib/objects.ts';
import { nestsDeeperThan, storageFaults } from '../../lib/text.ts';
import type { Claims } from '../people/store.ts';
import { SignInError } from './failures.ts';

const maxClaimsBytes = 64 * 1024;
const maxClaimsLevels = 20;

const decoder = new TextDecoder('utf-8', { fatal: true });

const invalid = (what: string) => new SignInError('token_invalid', what);

/** Returns the text of bytes from the provider; null if they are not UTF-8. */
export const decodeText = (bytes: Uint8Array | ArrayBuffer): string | null => {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
};

/** Returns the text of the claims in a JWT whose signature was verified before. Throws 400 `token_invalid`. */
export const payloadText = (jwt: string): string => {
  const text = decodeText(Buffer.from(jwt.split('.')[1] ?? '', 'base64url'));
  if (text === null) throw invalid('the claims are not UTF-8');
  return text;
};

/**
 * Parses claims so that large integers keep their digits, which the libraries' JSON.parse would round. Throws 400
 * `token_invalid` if they cannot be stored, and `notJson` if they are no JSON.
 */
export const parseClaims = (text: string, notJson = () => invalid('the claims are not JSON')): Claims => {
  if (nestsDeeperThan(text, maxClaimsLevels))
    throw invalid(`claims nest deeper than ${maxClaimsLevels} levels`);
  let claims: unknown;
  try {
    claims = parseJson(text);
  } catch {
    throw notJson();
  }
  if (!isObject(claims)) throw invalid('the claims are no object');
  if (storageFaults(claims).length > 0)
    throw invalid('a claim has NUL, half a surrogate pair, or a number too large');
  return claims;
};

/** Joins claims, the later ones over the earlier. Throws 400 `token_invalid` if they are too large together. */
export const joinClaims = (...parts: Claims[]): Claims => {
  // Not Object.assign: a claim may be named `__proto__`.
  const claims: Claims = Object.fromEntries(parts.flatMap((part) => Object.entries(part)));
  const bytes = Buffer.byteLength(JSON.stringify(claims));
  if (bytes > maxClaimsBytes) throw invalid(`the claims have ${bytes} bytes, more than ${maxClaimsBytes}`);
  return claims;
};
