import type { Principal } from '../../lib/principal.ts';
import type { Key, KeyStatus } from './store.ts';

const blocks = {
  suspended: 'its person is suspended. Ask an administrator',
  unbound: 'its person has to sign in first',
  no_role: 'its person has no role at present. Ask an administrator',
};

/** The columns of a key that decide who acts with it. */
export type AccessKey = Pick<
  Key,
  | 'id'
  | 'kind'
  | 'name'
  | 'user_id'
  | 'account_id'
  | 'root_id'
  | 'owner_user_id'
  | 'owner_name'
  | 'role'
  | 'scopes'
  | 'blocked_by'
  | 'unconfirmed_days'
  | 'expires_in_ms'
>;

/** Returns why a key of a person is paused, as the rest of a sentence; null if it is not. */
const pauseOf = ({ blocked_by, unconfirmed_days }: AccessKey, confirmationDays: number): string | null => {
  if (blocked_by !== null) return blocks[blocked_by];
  if (confirmationDays === 0 || unconfirmed_days === null || unconfirmed_days <= confirmationDays)
    return null;
  return `its person was last confirmed more than ${confirmationDays} days ago. It works again after the next sign-in`;
};

const isExpired = ({ expires_in_ms }: AccessKey): boolean => expires_in_ms !== null && expires_in_ms <= 0;

/** `confirmationDays` is PERSONAL_KEY_CONFIRMATION_DAYS; 0 switches that off. */
export const keyStatus = (key: Key, confirmationDays: number): KeyStatus => {
  if (isExpired(key)) return 'expired';
  return pauseOf(key, confirmationDays) === null ? 'active' : 'paused';
};

/** Whose limits count for the key. */
const rootOf = ({ id, account_id, root_id, owner_user_id }: AccessKey): string =>
  owner_user_id ?? root_id ?? account_id ?? id;

/**
 * Returns who acts with `key`, or the message of the 401 that says why no one may. `confirmationDays` is
 * PERSONAL_KEY_CONFIRMATION_DAYS; 0 switches that off. The result holds for at most `expires_in_ms`.
 */
export const keyPrincipal = (
  key: AccessKey,
  confirmationDays: number,
): { principal: Principal } | { refused: string } => {
  if (isExpired(key)) return { refused: 'The API key has expired.' };
  const pause = pauseOf(key, confirmationDays);
  if (pause !== null) return { refused: `The API key is paused: ${pause}.` };
  const { id: keyId, account_id, scopes, role } = key;
  const rights = { role: role!, keyId, rootId: rootOf(key), scopes, sessionId: null };
  return {
    principal:
      key.kind === 'personal'
        ? { kind: 'person', id: key.user_id!, name: key.owner_name!, ...rights }
        : { kind: 'service_account', id: account_id ?? keyId, name: key.name, ...rights },
  };
};
