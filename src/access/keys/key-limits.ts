import type { Tx } from '../../database/index.ts';
import { ApiError, badRequest, unprocessable } from '../../lib/errors.ts';
import {
  type Principal,
  type Role,
  roleAllows,
  type Scope,
  scopesAllow,
  systemActor,
} from '../../lib/principal.ts';
import { readSettings } from '../../settings/index.ts';
import { lockKeyForShare } from './store.ts';

/** A key never makes more than itself: neither a higher role, nor more scopes, nor a longer life. */

const dayMs = 86_400_000;
/** The last time that RFC 3339 can write, in milliseconds since 1970. */
const lastTime = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

const forbidden = (message: string) => new ApiError('forbidden', message);

/** Throws 403 for a role or for scopes that the principal does not have itself. `scopes` null: all of the role. */
export const checkRights = (principal: Principal, role: Role, scopes: readonly Scope[] | null): void => {
  if (!roleAllows(principal.role, role)) {
    throw forbidden(`Your role is ${principal.role}: you cannot make a key with the role ${role}.`);
  }
  if (principal.scopes === null) return;
  if (scopes === null) {
    throw forbidden(
      `Your API key is limited to the scopes ${principal.scopes.join(', ')}: it cannot make a key without scopes.`,
    );
  }
  const missing = scopes.filter((scope) => !scopesAllow(principal.scopes, scope));
  if (missing.length > 0) {
    throw forbidden(
      `Your API key does not have the scopes ${missing.join(', ')}: it cannot make a key with them.`,
    );
  }
};

/** What bounds the life of a new key. Times are in milliseconds since 1970, by the database's clock. */
export interface LifeLimits {
  now: number;
  /** The end of the key that acts; null: it has none, or a person, the bootstrap key or the first key acts. */
  ownEnd: number | null;
  /** MAX_API_KEY_DAYS; 0 is no limit. */
  maxDays: number;
}

/**
 * Reads what bounds the life of a key that `principal` makes `now`. Locks the key that acts: once it is deleted, no request
 * of it is still making one. Throws 401 if it was deleted or expired in the meantime.
 */
export const lockLifeLimits = async (tx: Tx, { keyId }: Principal, now: number): Promise<LifeLimits> => {
  const { MAX_API_KEY_DAYS: maxDays } = await readSettings(tx);
  const own = keyId === null || keyId === 'bootstrap' ? null : await lockKeyForShare(tx, keyId);
  const ownEnd = own?.expires_at?.getTime() ?? null;
  if (own === undefined || (ownEnd !== null && ownEnd <= now)) {
    throw new ApiError('unauthorized', 'The API key was revoked, or has expired.');
  }
  // Those who install the platform make their own keys with the first one, which ends after a day.
  const isFirst = own?.created_by === systemActor.principal.id;
  return { now, ownEnd: isFirst ? null : ownEnd, maxDays };
};

const wrongEnd = (message: string, context = {}) => unprocessable([{ path: 'expires_at', message }], context);

/** Throws 422 unless `end` is later than `now`. */
export const checkFuture = (end: number, now: number): void => {
  if (end <= now) throw wrongEnd('must be in the future');
};

/**
 * Throws unless a new key may end at `end` (null: never): 400 if MAX_API_KEY_DAYS requires an end, 422 for one that has
 * passed, is too late, or is missing because the key that acts has one.
 */
export const checkEnd = (end: number | null, { now, ownEnd, maxDays }: LifeLimits): void => {
  const setting = { setting: 'MAX_API_KEY_DAYS' };
  if (end === null && maxDays > 0) {
    const message = `is required: MAX_API_KEY_DAYS is ${maxDays}`;
    const details = [{ path: 'expires_at', message }];
    throw badRequest(`expires_at: ${message}`, { ...setting, details });
  }
  const own = ownEnd === null ? '' : new Date(ownEnd).toISOString();
  if (end === null) {
    if (ownEnd !== null) throw wrongEnd(`is required: your API key expires at ${own}`);
    return;
  }
  checkFuture(end, now);
  if (end > lastTime) throw wrongEnd('must be before the year 10000');
  if (maxDays > 0 && end > now + maxDays * dayMs) {
    throw wrongEnd(`must be within ${maxDays} days (MAX_API_KEY_DAYS)`, setting);
  }
  if (ownEnd !== null && end > ownEnd) throw wrongEnd(`must not be later than ${own}, as for your API key`);
};

/** Returns the end of a key made `now` with as long a life as `old` had; null: never. */
export const sameLifeAgain = (
  { created_at, expires_at }: { created_at: Date; expires_at: Date | null },
  now: number,
): number | null =>
  expires_at === null ? null : Math.min(now + expires_at.getTime() - created_at.getTime(), lastTime);
