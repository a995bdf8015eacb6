import { audit } from '../../audit/index.ts';
import type { Tx } from '../../database/index.ts';
import { ApiError, unprocessable } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { type Actor, type Role, roleAllows } from '../../lib/principal.ts';
import { notifyAccessChanged } from '../changed.ts';
import { cleanName } from './claims.ts';
import { type EndedKey, toEndedKeys } from './ended-keys.ts';
import { checkGivesRoles } from './giving-roles.ts';
import {
  type GivenRole,
  keepingAnAdmin,
  type PeopleParts,
  readPolicy,
  roleChangeEntry,
  roleOf,
} from './roles.ts';
import {
  countTouchedOf,
  deleteUserRow,
  findInvitation,
  insertUser,
  listUserIdsByEmail,
  type UserRow,
  updateUserRow,
} from './store.ts';

/** 412 with `message`. */
const precondition = (message: string) => new ApiError('precondition_failed', message);

export interface Invitation {
  /** An address in ASCII lower case. */
  email: string;
  role: Role;
  name?: string | undefined;
}

/** Creates an invitation. Throws 422 with `user_id` if a person or an invitation has the address. */
export const inviteUser = async (
  tx: Tx,
  actor: Actor,
  { email, role, name }: Invitation,
): Promise<UserRow> => {
  checkGivesRoles(actor.principal);
  const [other] = await listUserIdsByEmail(tx, email);
  if (other) {
    throw unprocessable(
      [{ path: 'email', message: 'is the address of a person or an invitation that exists already' }],
      { user_id: other },
    );
  }
  const fields = { email, role, name: cleanName(name) || cleanName(email) };
  const user = await insertUser(tx, newId(), { ...fields, role_source: 'manual', status: 'invited' });
  await audit(tx, actor, 'user.invite', user.id, fields);
  return user;
};

/** The changes that an administrator may ask for. `role` and `role_source` are not there together. */
export interface UserChanges {
  role?: Role | undefined;
  role_source?: 'mapping' | undefined;
  status?: 'active' | 'suspended' | undefined;
  identity?: null | undefined;
  /** Default: true. */
  end_made_keys?: boolean | undefined;
}

/** The role that the mappings give now. Throws 412 if the claims do not decide it. */
const mappedRole = async (tx: Tx, parts: PeopleParts, user: UserRow): Promise<GivenRole> => {
  if (user.claims === null) throw precondition('The person has not signed in yet, so no claims are known.');
  const given = roleOf(await readPolicy(tx, parts), user.claims);
  if (!given) throw precondition('The identity provider did not send all claims that role mappings read.');
  return given;
};

/** Throws 412 if no sign-in could bind the person again. */
const checkUnbinding = async (tx: Tx, { email, email_verified }: UserRow): Promise<void> => {
  if (email === null || !email_verified) {
    throw precondition('The person has no verified e-mail, so no later sign-in could be recognized.');
  }
  if (await findInvitation(tx, email)) {
    throw precondition('There is an invitation of the same e-mail. Delete it first.');
  }
};

type State = Pick<UserRow, 'issuer' | 'subject' | 'status' | 'role' | 'role_source'>;

/** Resolves to the person after the changes. Throws 412 if they do not fit. */
const stateAfter = async (
  tx: Tx,
  parts: PeopleParts,
  before: UserRow,
  changes: UserChanges,
): Promise<{ after: State; given: GivenRole }> => {
  const unbinds = changes.identity === null && before.issuer !== null;
  if (unbinds) await checkUnbinding(tx, before);
  const bound = before.issuer !== null && !unbinds;
  if (!bound && changes.status === 'active') {
    throw precondition('An invitation becomes active when its person signs in.');
  }
  if (!bound && changes.role_source) {
    throw precondition('An invitation has the role that it was given, until its person signs in.');
  }
  let given: GivenRole = { role: before.role, role_source: before.role_source, mapping: null };
  if (changes.role) given = { role: changes.role, role_source: 'manual', mapping: null };
  if (changes.role_source) given = await mappedRole(tx, parts, before);
  // A suspended person stays suspended without an identity: unbinding must not bypass the ban.
  const status = unbinds && before.status === 'active' ? 'invited' : before.status;
  return {
    given,
    after: {
      issuer: bound ? before.issuer : null,
      subject: bound ? before.subject : null,
      role: given.role,
      role_source: given.role_source,
      status: changes.status ?? status,
    },
  };
};

const statusActions = { suspended: 'user.suspend', active: 'user.activate' } as const;

/** Returns whether the person is suspended by the change, or may do less afterwards. */
const losesAccess = (before: State, after: State): boolean => {
  if (after.status === 'suspended' && before.status !== 'suspended') return true;
  if (before.role === null) return false;
  return after.role === null || !roleAllows(after.role, before.role);
};

/**
 * Changes the person. Throws 412 if the changes do not fit, or would leave no administrator. Sessions end when the
 * person is suspended, unbound, or has no role any more; keys of the workspace that the person made, when the person is
 * suspended or gets a lower role. Also returns the keys that ended.
 */
export const updateUser = async (
  tx: Tx,
  actor: Actor,
  parts: PeopleParts,
  before: UserRow,
  changes: UserChanges,
): Promise<{ user: UserRow; ended: EndedKey[] }> => {
  const reinstates = changes.status === 'active' && before.status === 'suspended';
  if (changes.role || changes.role_source || reinstates) checkGivesRoles(actor.principal);
  const { after, given } = await stateAfter(tx, parts, before, changes);
  const names = (Object.keys(after) as (keyof State)[]).filter((name) => before[name] !== after[name]);
  if (names.length === 0) return { user: before, ended: [] };
  const counts = await countTouchedOf(tx, before.id);
  const user = await keepingAnAdmin(tx, () => updateUserRow(tx, before.id, after));
  // After the person is changed: who is making a key has finished, or finds no access.
  const ends = (changes.end_made_keys ?? true) && losesAccess(before, after);
  const ended = ends ? await parts.endMadeKeys(tx, actor, before.id, 'user.update') : [];
  const touched = { ...counts, ...(ended.length > 0 && { ended_keys: toEndedKeys(ended) }) };
  if (names.includes('role') || names.includes('role_source')) {
    const { details } = roleChangeEntry(user.id, before, given, 'administrator', touched);
    await audit(tx, actor, 'user.role_change', user.id, details);
  }
  const unbound = names.includes('issuer');
  if (unbound) {
    const { issuer, subject, status } = before;
    await audit(tx, actor, 'user.unbind', user.id, {
      before: { identity: { issuer, subject }, status },
      after: { identity: null, status: after.status },
      ...touched,
    });
  }
  if (changes.status && names.includes('status')) {
    await audit(tx, actor, statusActions[changes.status], user.id, {
      before: { status: before.status },
      after: { status: changes.status },
      ...touched,
    });
  }
  const lost = user.role === null ? 'role_lost' : null;
  const reason = unbound || user.status === 'suspended' ? 'revoked' : lost;
  if (reason) await parts.endSessions(tx, actor, [user.id], reason);
  await notifyAccessChanged(tx);
  return { user, ended };
};

/**
 * Deletes the person with the sessions and keys and, if `endMade`, with the keys of the workspace that the person made.
 * Returns the latter. Throws 412 if it would leave no administrator.
 */
export const deleteUser = async (
  tx: Tx,
  actor: Actor,
  parts: PeopleParts,
  user: UserRow,
  endMade: boolean,
): Promise<EndedKey[]> => {
  const { id, email, name, role, role_source, status, issuer, subject } = user;
  const touched = await countTouchedOf(tx, id);
  await keepingAnAdmin(tx, async () => {
    await parts.endSessions(tx, actor, [id], 'revoked');
    await deleteUserRow(tx, id);
  });
  const ended = endMade ? await parts.endMadeKeys(tx, actor, id, 'user.delete') : [];
  const identity = issuer === null ? null : { issuer, subject };
  await audit(tx, actor, 'user.delete', id, {
    before: { email, name, role, role_source, status, identity },
    after: null,
    ...touched,
    ended_keys: toEndedKeys(ended),
  });
  await notifyAccessChanged(tx);
  return ended;
};
