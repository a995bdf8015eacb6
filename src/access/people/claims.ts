import { emailAddress } from '../../lib/email.ts';
import { pointerTokens, valueAtTokens } from '../../lib/json-pointer.ts';
import { isObject } from '../../lib/objects.ts';
import type { Claims } from './store.ts';

/** The own property `name` of `object`, so that `constructor` is a claim like any other. */
const ownProperty = (object: object, name: string): unknown =>
  Object.hasOwn(object, name) ? (object as Record<string, unknown>)[name] : undefined;

/**
 * Returns the path to a claim: the name of a top-level claim, taken literally, or the tokens of a JSON Pointer (RFC
 * 6901) if it begins with `/`. Returns null for a malformed pointer.
 */
export const claimPath = (claim: string): readonly [string, ...string[]] | null => {
  if (!claim.startsWith('/')) return [claim];
  return pointerTokens(claim) as [string, ...string[]] | null;
};

/** Returns the value at `path`; undefined if there is none. */
export const claimAt = (claims: Claims, path: readonly string[]): unknown => valueAtTokens(claims, path);

/** The values of anything but an array. */
const valuesOfOne = (value: unknown): string[] => {
  if (typeof value === 'string') return [value];
  if (typeof value === 'bigint') return [value.toString()];
  if (typeof value === 'number' || typeof value === 'boolean') return [JSON.stringify(value)];
  if (!isObject(value)) return [];
  // `{"staff": false}` says that the person does not have it.
  return Object.keys(value).filter((key) => value[key] !== false && value[key] !== null);
};

/**
 * Returns the values of a claim, which mappings compare with: a string itself, a number or
 * boolean as its JSON text, an array's elements by these rules but not arrays in it, an object's keys
 * except those that are false or null.
 */
export const valuesOf = (value: unknown): string[] =>
  Array.isArray(value)
    ? value.flatMap((element) => (Array.isArray(element) ? [] : valuesOfOne(element)))
    : valuesOfOne(value);

/**
 * Returns the names of top-level claims that the provider did not send in full: those in `_claim_names` (OpenID Connect
 * Core, section 5.6.2), and `groups` if there is a `hasgroups`.
 */
export const incompleteClaims = (claims: Claims): Set<string> => {
  const elsewhere = ownProperty(claims, '_claim_names');
  const names = new Set(isObject(elsewhere) ? Object.keys(elsewhere) : valuesOf(elsewhere));
  const overage = ownProperty(claims, 'hasgroups');
  if (overage !== undefined && overage !== null && overage !== false && overage !== 'false') {
    names.add('groups');
  }
  return names;
};

/**
 * The values that say that an e-mail is verified. The standard's claim is a boolean; directories send `"1"` in those of
 * their own.
 */
const standardYes = new Set<unknown>([true, 'true']);
const ownYes = new Set<unknown>([...standardYes, 1, '1']);

/**
 * Returns whether the provider vouches for the e-mail: the claim `verifiedClaim` is `true` or `"true"`, or, if it is
 * not the standard's, `1` or `"1"`; or `verifiedClaim` is `*`, which stands for always.
 */
export const isEmailVerified = (claims: Claims, verifiedClaim: string): boolean => {
  if (verifiedClaim === '*') return true;
  const yes = verifiedClaim === 'email_verified' ? standardYes : ownYes;
  return yes.has(ownProperty(claims, verifiedClaim));
};

/** The claims that change at each sign-in, or that concern the token and not the person. */
const notKept = new Set('iss aud exp iat nbf jti nonce azp sid auth_time at_hash c_hash s_hash'.split(' '));

/** The places of distributed claims without their access tokens. */
const withoutTokens = (sources: unknown): unknown =>
  isObject(sources)
    ? Object.fromEntries(
        Object.entries(sources).map(([name, source]) => {
          if (!isObject(source)) return [name, source];
          return [name, Object.fromEntries(Object.entries(source).filter(([key]) => key !== 'access_token'))];
        }),
      )
    : sources;

/** Returns the claims that are kept of a person, without any secret in them. */
const keptClaims = (claims: Claims): Claims =>
  Object.fromEntries(
    Object.entries(claims)
      .filter(([name]) => !notKept.has(name))
      .map(([name, value]) => [name, name === '_claim_sources' ? withoutTokens(value) : value]),
  );

const maxName = 200;

/**
 * Returns `text` as a name: without control characters, and without the marks that turn the direction of what follows;
 * at most 200 characters. Returns `''` if nothing is left.
 */
export const cleanName = (text: unknown): string =>
  typeof text === 'string'
    ? [...text.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, '').trim()]
        .slice(0, maxName)
        .join('')
    : '';

/** A person by the claims, as stored. */
export interface Profile {
  email: string | null;
  email_verified: boolean;
  name: string;
  claims: Claims;
}

/** Returns the e-mail, name and kept claims of the person `subject`. */
export const profileOf = (claims: Claims, subject: string, verifiedClaim: string): Profile => {
  const email = emailAddress(ownProperty(claims, 'email'));
  const name =
    cleanName(ownProperty(claims, 'name')) ||
    cleanName(ownProperty(claims, 'preferred_username')) ||
    cleanName(email ?? subject) ||
    'unnamed';
  return {
    email,
    email_verified: email !== null && isEmailVerified(claims, verifiedClaim),
    name,
    claims: keptClaims(claims),
  };
};
