import { audit } from '../../audit/index.ts';
import { advisoryLock, type Tx } from '../../database/index.ts';
import { newId } from '../../lib/ids.ts';
import type { Actor } from '../../lib/principal.ts';
import { notifyAccessChanged } from '../changed.ts';
import { type Profile, profileOf } from './claims.ts';
import type { Identities, IdentityRefusal, IdentityResult, ProvidedIdentity } from './identity.ts';
import { type GivenRole, type PeopleParts, readPolicy, roleChangeEntry, roleOf } from './roles.ts';
import {
  confirmUser,
  countTouchedOf,
  findInvitation,
  findUser,
  findUserByIdentity,
  insertUser,
  isSuspendedAddress,
  listUserIdsByEmail,
  type UserRow,
  updateClaims,
  updateUserRow,
} from './store.ts';

const suspended: IdentityRefusal = {
  reason: 'suspended',
  message: 'Your access is suspended. Ask an administrator of this workspace to activate it again.',
};

const noRole: IdentityRefusal = {
  reason: 'no_role',
  message:
    'The identity provider knows you, but you have no role here. Ask an administrator of this workspace to invite you, or to map one of your groups to a role.',
};

const claimsIncomplete = (names: readonly string[]): IdentityRefusal => ({
  reason: 'claims_incomplete',
  message: `The identity provider did not send all of your ${names.join(', ')}, so your role cannot be decided. Ask the administrator of the identity provider to send only what is assigned to this application.`,
});

/** A sign-in or a refresh in progress. */
interface Arrival {
  tx: Tx;
  actor: Actor;
  identity: ProvidedIdentity;
  profile: Profile;
  by: 'sign_in' | 'refresh';
}

/** The role for the claims, and the claims that are incomplete. `given` is null if they decide nothing. */
interface Decision {
  given: GivenRole | null;
  incomplete: readonly string[];
}

/** For the audit entry of the sign-in. */
const detailsOf = ({ identity, profile }: Arrival, user?: Pick<UserRow, 'id' | 'role' | 'role_source'>) => ({
  issuer: identity.issuer,
  subject: identity.subject,
  email: profile.email,
  email_verified: profile.email_verified,
  ...(user && { user_id: user.id, role: user.role, role_source: user.role_source }),
});

const refused = (arrival: Arrival, refusal: IdentityRefusal, user?: UserRow): IdentityResult => ({
  user: null,
  refusal,
  details: detailsOf(arrival, user),
});

/** Decides the role. A manual one stays, whatever the claims are. */
const decide = async ({ tx, identity }: Arrival, parts: PeopleParts, known?: UserRow): Promise<Decision> => {
  const policy = await readPolicy(tx, parts);
  const incomplete = policy.rules.incomplete(identity.claims);
  if (known?.role_source === 'manual') {
    return { given: { role: known.role, role_source: 'manual', mapping: null }, incomplete };
  }
  return { given: roleOf(policy, identity.claims), incomplete };
};

const profileNames = ['email', 'email_verified', 'name'] as const;

/** Writes e-mail and name where the provider changed them. Returns whether it did. */
const updateProfile = async ({ tx, actor, profile, by }: Arrival, known: UserRow): Promise<boolean> => {
  const changed = profileNames.filter((name) => known[name] !== profile[name]);
  if (changed.length === 0) return false;
  const pick = (from: Pick<UserRow, (typeof profileNames)[number]>) =>
    Object.fromEntries(changed.map((name) => [name, from[name]]));
  const after = pick(profile);
  await updateUserRow(tx, known.id, after);
  await audit(tx, actor, 'user.update', known.id, { before: pick(known), after, reason: by });
  return true;
};

/** Writes the role if it changed, and returns whether it did. A person without a role loses the sessions. */
const updateRole = async (
  { tx, actor, by }: Arrival,
  parts: PeopleParts,
  known: UserRow,
  given: GivenRole,
): Promise<boolean> => {
  const { role, role_source } = given;
  if (known.role === role && known.role_source === role_source) return false;
  await updateUserRow(tx, known.id, { role, role_source });
  const touched = await countTouchedOf(tx, known.id);
  const { action, targetId, details } = roleChangeEntry(known.id, known, given, by, touched);
  await audit(tx, actor, action, targetId, details);
  if (role === null) await parts.endSessions(tx, actor, [known.id], 'role_lost');
  return true;
};

/** Updates a person who has this issuer and subject. */
const renew = async (
  arrival: Arrival,
  parts: PeopleParts,
  known: UserRow,
  { given, incomplete }: Decision & { given: GivenRole },
): Promise<IdentityResult> => {
  const { tx, profile, by } = arrival;
  const profileChanged = await updateProfile(arrival, known);
  const roleChanged = await updateRole(arrival, parts, known, given);
  // A person with a manual role may come with incomplete claims; the last complete ones are kept.
  if (incomplete.length === 0) await updateClaims(tx, known.id, profile.claims);
  // A sign-in also wakes personal keys that wait for it.
  if (by === 'sign_in' || profileChanged || roleChanged) await notifyAccessChanged(tx);
  if (given.role === null) return refused(arrival, noRole, { ...known, ...given });
  const user = await confirmUser(tx, known.id, by);
  return { user, details: detailsOf(arrival, user) };
};

/** Admits a person who has this issuer and subject already. */
const admitKnown = async (arrival: Arrival, parts: PeopleParts, known: UserRow): Promise<IdentityResult> => {
  if (known.status === 'suspended') return refused(arrival, suspended, known);
  const { given, incomplete } = await decide(arrival, parts, known);
  if (!given) return refused(arrival, claimsIncomplete(incomplete), known);
  return renew(arrival, parts, known, { given, incomplete });
};

/** Binds an invitation to the issuer and subject for ever. Nothing is written if the person is refused. */
const bind = async (arrival: Arrival, parts: PeopleParts, invitation: UserRow): Promise<IdentityResult> => {
  const { tx, actor, identity, profile } = arrival;
  const { given, incomplete } = await decide(arrival, parts, invitation);
  if (!given) return refused(arrival, claimsIncomplete(incomplete), invitation);
  if (given.role === null) return refused(arrival, noRole, invitation);
  const { issuer, subject } = identity;
  const bound = await updateUserRow(tx, invitation.id, { issuer, subject, status: 'active' });
  const { email } = profile;
  const { role, role_source } = given;
  await audit(tx, actor, 'user.bind', bound.id, { issuer, subject, email, role, role_source, invited: true });
  return renew(arrival, parts, bound, { given, incomplete });
};

/** Makes a new person, if the claims give a role. Nothing is written if not. */
const create = async (arrival: Arrival, parts: PeopleParts): Promise<IdentityResult> => {
  const { tx, actor, identity, profile, by } = arrival;
  const { given, incomplete } = await decide(arrival, parts);
  if (!given) return refused(arrival, claimsIncomplete(incomplete));
  const { role, role_source, mapping } = given;
  if (role === null) return refused(arrival, noRole);
  const { issuer, subject } = identity;
  const others = profile.email === null ? [] : await listUserIdsByEmail(tx, profile.email);
  const also = others.length > 0 ? { email_also_of: others } : {};
  const id = newId();
  await insertUser(tx, id, { ...profile, issuer, subject, role, role_source, status: 'active' });
  await audit(tx, actor, 'user.bind', id, {
    issuer,
    subject,
    email: profile.email,
    role,
    role_source,
    role_mapping: mapping && { id: mapping.id, claim: mapping.claim, value: mapping.value },
    invited: false,
    ...also,
  });
  const user = await confirmUser(tx, id, by);
  return { user, details: { ...detailsOf(arrival, user), ...also } };
};

/**
 * The invitation that the e-mail binds. The e-mail must be verified, and no suspended person or invitation may have it:
 * someone suspended must not come back as someone else.
 */
const findOpenInvitation = async ({ tx, profile }: Arrival): Promise<UserRow | undefined> => {
  const { email, email_verified } = profile;
  if (email === null || !email_verified || (await isSuspendedAddress(tx, email))) return undefined;
  return findInvitation(tx, email);
};

export const createIdentities = (parts: PeopleParts): Identities => {
  const arrivalOf = (tx: Tx, actor: Actor, identity: ProvidedIdentity, by: Arrival['by']): Arrival => {
    const profile = profileOf(identity.claims, identity.subject, parts.emailVerifiedClaim);
    return { tx, actor, identity, profile, by };
  };
  return {
    signIn: async (tx, actor, identity) => {
      await advisoryLock(tx, 'access');
      const arrival = arrivalOf(tx, actor, identity, 'sign_in');
      const known = await findUserByIdentity(tx, identity.issuer, identity.subject);
      if (known) return admitKnown(arrival, parts, known);
      const invitation = await findOpenInvitation(arrival);
      return invitation ? bind(arrival, parts, invitation) : create(arrival, parts);
    },
    confirm: async (tx, actor, userId, identity) => {
      await advisoryLock(tx, 'access');
      const arrival = arrivalOf(tx, actor, identity, 'refresh');
      const known = await findUser(tx, userId);
      // Deleted or unbound since the session was made.
      if (known?.issuer !== identity.issuer || known.subject !== identity.subject) {
        return refused(arrival, known?.status === 'suspended' ? suspended : noRole);
      }
      return admitKnown(arrival, parts, known);
    },
  };
};
