import { compactVerify, createLocalJWKSet, decodeProtectedHeader } from 'jose';
import type { Claims } from '../people/store.ts';
import { parseClaims, payloadText } from './claims.ts';
import { clockSkew, clockToleranceSeconds, SignInError, skewOf } from './failures.ts';
import type { ProviderKeys } from './keys.ts';

/** OpenID Connect Core 1.0, section 2: a subject has at most 255 characters. */
const maxSubject = 255;
const maxSid = 500;

/** The key id in the header of a JWT; undefined if it names none or is no JWT. */
export const keyIdOf = (jwt: unknown): string | undefined => {
  try {
    const { kid } = decodeProtectedHeader(jwt as string);
    return typeof kid === 'string' ? kid : undefined;
  } catch {
    return undefined;
  }
};

/**
 * Verifies the signature of a JWT with the provider's keys and resolves to its type and claims. Rejects with an error of
 * jose if the signature does not hold, and with 503 if the keys cannot be read.
 */
export const verifyJwt = async (
  jwt: string,
  keys: ProviderKeys,
  algorithms: readonly string[],
): Promise<{ type: unknown; claims: Claims }> => {
  const known = createLocalJWKSet(await keys.get(keyIdOf(jwt)));
  const { protectedHeader } = await compactVerify(jwt, known, { algorithms: [...algorithms] });
  return { type: protectedHeader.typ, claims: parseClaims(payloadText(jwt)) };
};

/** The `sub` of claims; null if it cannot be a subject. */
export const subjectOf = ({ sub }: Claims): string | null =>
  typeof sub === 'string' && sub.length > 0 && sub.length <= maxSubject ? sub : null;

/** The `sid` of claims; null if there is none that could be one. */
export const sidOf = ({ sid }: Claims): string | null =>
  typeof sid === 'string' && sid.length > 0 && sid.length <= maxSid ? sid : null;

/**
 * Returns the claims of an ID token that the library verified, after the checks that the library leaves out: `azp` where
 * it is there, `iat` in the future, the length of the subject. Throws 400. `now` is in seconds since 1970.
 */
export const readIdToken = (idToken: string, clientId: string, now: number): Claims & { sub: string } => {
  const claims = parseClaims(payloadText(idToken));
  const { azp, iat } = claims;
  if (azp !== undefined && azp !== clientId) throw new SignInError('token_invalid', 'azp is another client');
  if (typeof iat !== 'number') throw new SignInError('token_invalid', 'iat is no number');
  if (iat > now + clockToleranceSeconds) throw clockSkew('iat', skewOf(claims, 'iat', now));
  const sub = subjectOf(claims);
  if (sub === null) throw new SignInError('token_invalid', 'sub is empty or too long');
  return { ...claims, sub };
};
