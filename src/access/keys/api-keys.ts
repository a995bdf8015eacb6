import { audit, auditAll } from '../../audit/index.ts';
import { databaseNow, type Tx } from '../../database/index.ts';
import { fingerprint, hashFingerprint, sha256 } from '../../lib/crypto.ts';
import { ApiError, notFound, unprocessable } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import type { Actor, Principal, Role, Scope } from '../../lib/principal.ts';
import { notifyAccessChanged } from '../changed.ts';
import { toEndedKeys } from '../people/ended-keys.ts';
import { keyPrefix, newKeyValue } from './key-format.ts';
import {
  checkCount,
  checkEnd,
  checkFirstEnd,
  checkFuture,
  checkOverlaps,
  checkRights,
  lockMaker,
  lockPerson,
  mayOwnForWorkspace,
  sameLifeAgain,
} from './key-limits.ts';
import { deleteMadeKeys, isKey, type MadeKey, passMadeKeysOn } from './made-keys-store.ts';
import { type ApiKeyRow, deleteKey, findKey, insertKey, type Key, lockKey, updateReplaced } from './store.ts';

/** A key as a client creates it. A service account's key has a role, a personal one has none. */
export interface NewApiKey {
  name: string;
  kind: ApiKeyRow['kind'] | undefined;
  role: Role | undefined;
  scopes: Scope[] | undefined;
  /** Undefined: it belongs to whom the key that acts belongs to. */
  owner: 'workspace' | undefined;
  expires_at: string | undefined;
}

/** The rotation of a key by a client. `overlap_seconds`: for how long the old one still works. */
export interface Rotation {
  overlap_seconds: number;
  expires_at: string | undefined;
}

type KeyWithValue = Key & { value: string };

const timeOf = (text: string | undefined): number | null => (text === undefined ? null : Date.parse(text));

/** Everyone sees and revokes the keys that they created or own, and a key itself; an admin sees and revokes all. */
export const mayManage = (principal: Principal, key: Key): boolean =>
  principal.role === 'admin' ||
  key.created_by === principal.id ||
  key.owner_user_id === principal.id ||
  key.id === principal.keyId;

/** Inserts a key with a new value, of which only the hash is stored. */
const insertWithValue = async (
  tx: Tx,
  key: Omit<Parameters<typeof insertKey>[1], 'id' | 'value_hash' | 'prefix' | 'expires_at'> & {
    end: number | null;
  },
): Promise<KeyWithValue> => {
  const { end, ...fields } = key;
  const id = newId();
  const value = newKeyValue();
  await insertKey(tx, {
    ...fields,
    id,
    value_hash: sha256(value),
    prefix: keyPrefix(value),
    expires_at: end === null ? null : new Date(end),
  });
  return { ...(await findKey(tx, id))!, value };
};

/** Throws 422 for what does not fit the kind, and 403 for more than the actor has. */
const checkNewKey = ({ principal }: Actor, { kind, role, scopes, owner }: NewApiKey): void => {
  const fault = (path: string, message: string) => unprocessable([{ path, message }]);
  if (kind === 'personal') {
    if (role !== undefined) throw fault('role', 'a personal key has its person’s role: leave it out');
    if (owner !== undefined) throw fault('owner', 'a personal key belongs to its person: leave it out');
    if (principal.kind !== 'person') throw fault('kind', 'only a person can have a personal key');
  }
  if (owner === 'workspace' && !mayOwnForWorkspace(principal)) {
    throw new ApiError(
      'forbidden',
      'Only an administrator without scopes makes keys of the workspace. Leave `owner` out: the key is then yours.',
    );
  }
  checkRights(principal, role ?? principal.role, scopes ?? null);
};

/** Creates a key of the actor. Returns it with its value, which is stored as a hash only. */
export const createApiKey = async (tx: Tx, actor: Actor, body: NewApiKey): Promise<KeyWithValue> => {
  const { principal } = actor;
  checkNewKey(actor, body);
  const end = timeOf(body.expires_at);
  const person = await lockPerson(tx, principal);
  const maker = await lockMaker(tx, principal, person, await databaseNow(tx));
  checkEnd(end, maker);
  await checkCount(tx, principal, maker);
  const { name, kind = 'service_account', role = null, scopes = null } = body;
  const ownerUserId = body.owner === 'workspace' ? null : (person?.id ?? null);
  const made = await insertWithValue(tx, {
    name,
    kind,
    role,
    scopes,
    user_id: kind === 'personal' ? principal.id : null,
    created_by: principal.id,
    account_id: null,
    owner: ownerUserId === null ? 'workspace' : 'person',
    owner_user_id: ownerUserId,
    made_by_user_id: person?.id ?? null,
    made_with_key_id: maker.keyId,
    rotated_by_user_id: null,
    rotated_with_key_id: null,
    // A service account's new keys share its limits, so that no one multiplies them. An administrator gives new ones.
    root_id: ownerUserId !== null || mayOwnForWorkspace(principal) ? null : principal.rootId,
    first_end: end === null ? null : new Date(end),
    end,
  });
  await audit(tx, actor, 'api_key.create', made.id, {
    name,
    kind,
    role,
    scopes,
    owner: { kind: made.owner, id: ownerUserId },
    expires_at: made.expires_at,
    value: fingerprint(made.value),
  });
  return made;
};

/**
 * Throws 403 unless the principal may hold the key that a rotation makes: a personal key is its person's alone, and no
 * one rotates a key that may do more than they.
 */
export const checkMayRotate = (principal: Principal, key: Key): void => {
  if (key.kind === 'personal' && !(principal.kind === 'person' && principal.id === key.user_id)) {
    throw new ApiError('forbidden', 'Only the person of a personal key can rotate it.');
  }
  checkRights(principal, key.role ?? principal.role, key.scopes);
};

/** Throws 412 if the key was rotated already or has expired. */
const checkReplaceable = ({ replaced_by, expires_at }: Key, now: number): void => {
  const refused = (why: string) => new ApiError('precondition_failed', `${why} Create a new one.`);
  if (replaced_by !== null) throw refused('The API key was rotated already.');
  if (expires_at !== null && expires_at.getTime() <= now) throw refused('The API key has expired.');
};

/**
 * Makes a key in place of `id`, which expires after the overlap. The new key has the same rights and maker, acts as the
 * same account, and, unless the client gives its end, has as long a life as the old one had. Another person or key that
 * rotates it learns its value: it ends with them, too. Throws 412 if the old key was
 * rotated or has expired, and 400 if too many keys that were rotated still work.
 */
export const rotateApiKey = async (
  tx: Tx,
  actor: Actor,
  id: string,
  { overlap_seconds, expires_at }: Rotation,
): Promise<KeyWithValue> => {
  const { principal } = actor;
  const person = await lockPerson(tx, principal);
  const old = await lockKey(tx, id);
  if (!old) throw notFound('API key');
  const now = await databaseNow(tx);
  const given = timeOf(expires_at);
  if (given !== null) checkFuture(given, now);
  checkReplaceable(old, now);
  const limits = await lockMaker(tx, principal, person, now);
  const sameLife = sameLifeAgain(old, now);
  const end = given ?? sameLife;
  // A key may give itself as long a life again, but not a longer one: its end would mean nothing.
  checkEnd(end, id === principal.keyId ? { ...limits, ownEnd: sameLife } : limits);
  checkFirstEnd(end, old.first_end);
  if (overlap_seconds > 0) await checkOverlaps(tx, principal, limits);
  const { name, kind, scopes, user_id, created_by, owner, owner_user_id } = old;
  const { made_by_user_id, made_with_key_id, root_id, first_end } = old;
  const made = await insertWithValue(tx, {
    name,
    kind,
    role: old.own_role,
    scopes,
    user_id,
    created_by,
    account_id: kind === 'personal' ? null : (old.account_id ?? id),
    owner,
    owner_user_id,
    made_by_user_id,
    made_with_key_id,
    rotated_by_user_id: person === null || person.id === owner_user_id ? null : person.id,
    rotated_with_key_id: id === principal.keyId ? null : limits.keyId,
    root_id,
    first_end,
    end,
  });
  const oldEnd = Math.min(
    now + overlap_seconds * 1_000,
    old.expires_at?.getTime() ?? Number.POSITIVE_INFINITY,
  );
  await updateReplaced(tx, id, { replaced_by: made.id, expires_at: new Date(oldEnd) });
  await notifyAccessChanged(tx);
  await audit(tx, actor, 'api_key.rotate', id, {
    name,
    value: hashFingerprint(old.value_hash),
    expires_at: new Date(oldEnd),
    replaced_by: { id: made.id, value: fingerprint(made.value), expires_at: made.expires_at },
  });
  return made;
};

/** Ends the keys that the person or key `id` made, or rotated for others. Returns them. */
export const endMadeKeys = async (tx: Tx, actor: Actor, id: string, because: string): Promise<MadeKey[]> => {
  const keys = await deleteMadeKeys(tx, id);
  await auditAll(
    tx,
    actor,
    keys.map(({ id: targetId, name, prefix }) => ({
      action: 'api_key.delete',
      targetId,
      details: { name, prefix, because, made_by: id },
    })),
  );
  return keys;
};

/**
 * Deletes the key and notifies every replica. Also ends the keys that it made, unless `endMade` says otherwise; without
 * `endMade` they stay if a rotation replaced the key, because its replacement has them. Returns what ended. 404 if
 * another request deleted the key.
 */
export const deleteApiKey = async (
  tx: Tx,
  actor: Actor,
  { id, name, prefix }: Key,
  endMade: boolean | undefined,
): Promise<MadeKey[]> => {
  const key = await lockKey(tx, id);
  if (!key) throw notFound('API key');
  const heir = (await isKey(tx, key.replaced_by)) ? key.replaced_by : null;
  const ends = endMade ?? heir === null;
  const ended = ends ? await endMadeKeys(tx, actor, id, 'api_key.delete') : [];
  if (!ends) {
    await passMadeKeysOn(tx, id, { heir: heir ?? key.made_with_key_id, userId: key.made_by_user_id });
  }
  await deleteKey(tx, id);
  await notifyAccessChanged(tx);
  await audit(tx, actor, 'api_key.delete', id, { name, prefix, ended_keys: toEndedKeys(ended) });
  return ended;
};
