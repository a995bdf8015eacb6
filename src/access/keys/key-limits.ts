import { advisoryRowLock, type Tx } from '../../database/index.ts';
import { ApiError, badRequest, unprocessable } from '../../lib/errors.ts';
import { isId } from '../../lib/ids.ts';
import {
  type Principal,
  type Role,
  roleAllows,
  type Scope,
  scopesAllow,
  systemActor,
} from '../../lib/principal.ts';
import { readSettings } from '../../settings/index.ts';
import { lockUserForShare } from '../people/store.ts';
import { countLivingKeysOf } from './made-keys-store.ts';
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

/** The bounds of the life of a new key. Times are in milliseconds since 1970, by the database's clock. */
export interface LifeLimits {
  now: number;
  /** The end of the key that acts; null: it has none, or a person, the bootstrap key or the first key acts. */
  ownEnd: number | null;
  /** MAX_API_KEY_DAYS; 0 is no limit. */
  maxDays: number;
}

/** Who acts, as far as the keys that it makes depend on it. */
export interface Maker extends LifeLimits {
  /** The person whose key it is, or who acts without one; null: a key of the workspace acts. */
  person: Person | null;
  /** Null if a person or the bootstrap key acts. */
  keyId: string | null;
}

type Person = NonNullable<Awaited<ReturnType<typeof lockUserForShare>>>;

/**
 * Locks the person who acts, also with a key: whoever takes the person's access away finds what the person makes. Call it
 * before a key is locked. Resolves to null if no person acts, and throws 401 if the person has lost access.
 */
export const lockPerson = async (tx: Tx, { kind, rootId }: Principal): Promise<Person | null> => {
  const person = isId(rootId) ? await lockUserForShare(tx, rootId) : undefined;
  if (!person && kind !== 'person') return null;
  if (person?.status === 'active' && person.role !== null) return person;
  throw new ApiError('unauthorized', 'The person who acts has no access at present.');
};

/**
 * Reads what bounds a key that `principal` makes `now`. Locks the key that acts: once it is deleted, no request of it is
 * still making one. Throws 401 if it was deleted or expired in the meantime.
 */
export const lockMaker = async (
  tx: Tx,
  principal: Principal,
  person: Person | null,
  now: number,
): Promise<Maker> => {
  const { MAX_API_KEY_DAYS: maxDays } = await readSettings(tx);
  const keyId = principal.keyId === 'bootstrap' ? null : principal.keyId;
  const own = keyId === null ? null : await lockKeyForShare(tx, keyId);
  const ownEnd = own?.expires_at?.getTime() ?? null;
  if (own === undefined || (ownEnd !== null && ownEnd <= now)) {
    throw new ApiError('unauthorized', 'The API key was revoked, or has expired.');
  }
  // Those who install the platform make their own keys with the first one, which ends after a day.
  const isFirst = own?.created_by === systemActor.principal.id;
  return { now, ownEnd: isFirst ? null : ownEnd, maxDays, person, keyId };
};

/** Returns whether the principal may give keys to the workspace: an administrator who is not limited to scopes. */
export const mayOwnForWorkspace = ({ role, scopes }: Principal): boolean =>
  role === 'admin' && scopes === null;

/**
 * Resolves to the number of living keys that may share the limits of the principal, and the number that do; null: any
 * number, for an administrator.
 */
const lockCount = async (tx: Tx, { rootId, role }: Principal, { person }: Maker) => {
  if (!isId(rootId)) return null;
  await advisoryRowLock(tx, 'API keys of a principal', rootId);
  const present = person?.role ?? role;
  if (present === 'admin') return null;
  const setting = present === 'builder' ? 'MAX_API_KEYS_PER_BUILDER' : 'MAX_API_KEYS_PER_PERSON';
  const { [setting]: most } = await readSettings(tx);
  const whose = person ? 'This person' : 'This service account';
  return { ...(await countLivingKeysOf(tx, rootId)), most, setting, whose };
};

/** Throws 400 if as many keys as one person may have share the limits of the principal. Waits for others who make one. */
export const checkCount = async (tx: Tx, principal: Principal, maker: Maker): Promise<void> => {
  const count = await lockCount(tx, principal, maker);
  if (!count || count.present < count.most) return;
  const { most, setting, whose } = count;
  throw badRequest(`${whose} has ${most} API keys, the maximum (${setting}). Delete one first.`, { setting });
};

/**
 * Throws 400 if so many keys that a rotation replaced still work: without it, a key that rotates itself again and again
 * would be any number of living keys.
 */
export const checkOverlaps = async (tx: Tx, principal: Principal, maker: Maker): Promise<void> => {
  const count = await lockCount(tx, principal, maker);
  if (!count || count.replaced < count.most) return;
  const { most, setting, whose } = count;
  throw badRequest(
    `${whose} has ${most} API keys that were rotated and still work, the maximum (${setting}). Delete one, or send overlap_seconds: 0.`,
    { setting },
  );
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

/**
 * Returns the end of a key made `now` with as long a life as `old` had, and not later than the first key of its rotations
 * ended; null: never.
 */
export const sameLifeAgain = (
  {
    created_at,
    expires_at,
    first_end,
  }: { created_at: Date; expires_at: Date | null; first_end: Date | null },
  now: number,
): number | null =>
  expires_at === null
    ? null
    : Math.min(now + expires_at.getTime() - created_at.getTime(), first_end?.getTime() ?? lastTime);

/** Throws 422 if a rotation would pass the end that the first key had. */
export const checkFirstEnd = (end: number | null, first: Date | null): void => {
  if (first === null || (end !== null && end <= first.getTime())) return;
  throw wrongEnd(
    `must not be later than ${first.toISOString()}, the end that the first key was made with. Create a new key instead`,
  );
};
