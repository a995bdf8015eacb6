import { randomNonce, randomPKCECodeVerifier, randomState } from 'openid-client';
import type { Vault } from '../../lib/crypto.ts';

/** The time limit of a sign-in, in seconds. */
export const flowSeconds = 600;
/** The largest permitted difference of the clocks of replicas, in milliseconds. */
const skewMs = 60_000;
const maxReturnTo = 2_000;

/** A sign-in in progress. The browser keeps it, sealed, in a cookie of its own. */
export interface Flow {
  state: string;
  nonce: string;
  /** The code verifier (RFC 7636). */
  verifier: string;
  /** A path of ours. */
  returnTo: string;
  /** When it began, in milliseconds since 1970: a browser may keep a cookie for longer than it should. */
  at: number;
}

const boundTo = 'sign_in_flow';

/** `state` is 256 random bits in base64url. */
const stateForm = /^[\w-]{43}$/;

/** Returns a new sign-in. */
export const newFlow = (returnTo: string, at: number): Flow => ({
  state: randomState(),
  nonce: randomNonce(),
  verifier: randomPKCECodeVerifier(),
  returnTo,
  at,
});

export const flowCookiePrefix = 'ap_sign_in_';

/** The name of the cookie of a sign-in; null if we made no such `state`. Each tab has its own. */
export const flowCookie = (state: string | undefined): string | null =>
  state !== undefined && stateForm.test(state) ? flowCookiePrefix + state.slice(0, 8) : null;

/** Returns the value of the cookie. */
export const sealFlow = (vault: Vault, flow: Flow): string => vault.seal(JSON.stringify(flow), boundTo);

/** Returns the sign-in of a cookie if it belongs to `state` and is at most 10 minutes old at `now`; else null. */
export const openFlow = (vault: Vault, sealed: string, state: string, now: number): Flow | null => {
  try {
    const flow = JSON.parse(vault.open(sealed, boundTo)) as Flow;
    const ageMs = now - flow.at;
    return flow.state === state && ageMs >= -skewMs && ageMs <= flowSeconds * 1000 ? flow : null;
  } catch {
    return null;
  }
};

/**
 * Returns `path` if it is a path of ours of at most 2,000 characters, percent-encoded; else `/`. Browsers take a
 * backslash for a slash and drop tabs and line ends, so that `/\host` and `/<tab>/host` would lead to another host.
 */
export const safeReturnTo = (path: string | undefined, publicUrl: string): string => {
  if (path === undefined || path.length > maxReturnTo || !/^\/(?!\/)[^\\\p{Cc}]*$/u.test(path)) return '/';
  if (!path.isWellFormed() || !URL.canParse(path, publicUrl)) return '/';
  const { origin, pathname, search, hash } = new URL(path, publicUrl);
  const target = pathname + search + hash;
  // A path of dots can begin with two slashes once it is resolved.
  if (origin !== new URL(publicUrl).origin || target.startsWith('//') || target.length > maxReturnTo)
    return '/';
  return target;
};
