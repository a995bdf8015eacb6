import { audit } from '../audit/index.ts';
import type { Tx } from '../database/index.ts';
import { fingerprint, sha256 } from '../lib/crypto.ts';
import { ApiError, notFound, unprocessable } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { type Actor, type Principal, type Role, roleAllows } from '../lib/principal.ts';
import { keyPrefix, newKeyValue } from './key-format.ts';
import { notifyRevoked } from './keys.ts';
import { deleteKey, findKey, insertKey, type ShownKey } from './store.ts';

/** What a client creates. A service account's key has a role, a personal one has none. */
export interface NewApiKey {
  name: string;
  kind: 'service_account' | 'personal' | undefined;
  role: Role | undefined;
  expires_at: string | undefined;
}

/** Everyone sees and revokes the keys that they created; an admin sees and revokes all. */
export const mayManage = (principal: Principal, key: ShownKey): boolean =>
  principal.role === 'admin' || key.created_by === principal.id;

/** Throws 403 for a role above the actor's own, 422 for what does not fit the kind and for a time that has passed. */
const checkNewKey = ({ principal }: Actor, { kind, role, expires_at }: NewApiKey): void => {
  const fault = (path: string, message: string) => unprocessable([{ path, message }]);
  if (kind === 'personal') {
    if (role !== undefined) throw fault('role', 'a personal key has its person’s role: leave it out');
    if (principal.kind !== 'person') throw fault('kind', 'only a person can have a personal key');
  } else if (!roleAllows(principal.role, role!)) {
    throw new ApiError('forbidden', `Your role is ${principal.role}: a key above it cannot be made.`);
  }
  if (expires_at !== undefined && Date.parse(expires_at) <= Date.now()) {
    throw fault('expires_at', 'must be in the future');
  }
};

/** Creates a key of the actor. Returns it with its value, which is stored as a hash only. */
export const createApiKey = async (
  tx: Tx,
  actor: Actor,
  body: NewApiKey,
): Promise<ShownKey & { value: string }> => {
  checkNewKey(actor, body);
  const { name, kind = 'service_account', role = null, expires_at } = body;
  const { principal } = actor;
  const id = newId();
  const value = newKeyValue();
  await insertKey(tx, {
    id,
    name,
    kind,
    role,
    user_id: kind === 'personal' ? principal.id : null,
    value_hash: sha256(value),
    prefix: keyPrefix(value),
    created_by: principal.id,
    expires_at: expires_at === undefined ? null : new Date(expires_at),
  });
  await audit(tx, actor, 'api_key.create', id, { name, kind, role, value: fingerprint(value) });
  return { ...(await findKey(tx, id))!, value };
};

/** Deletes the key and notifies every replica. 404 if another request deleted it. */
export const deleteApiKey = async (tx: Tx, actor: Actor, { id, name, prefix }: ShownKey): Promise<void> => {
  if (!(await deleteKey(tx, id))) throw notFound('API key');
  await notifyRevoked(tx);
  await audit(tx, actor, 'api_key.delete', id, { name, prefix });
};
