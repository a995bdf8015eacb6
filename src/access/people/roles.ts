import { auditAll } from '../../audit/index.ts';
import type { Executor, Tx } from '../../database/index.ts';
import { ApiError } from '../../lib/errors.ts';
import type { Actor, Role } from '../../lib/principal.ts';
import { readSettings } from '../../settings/index.ts';
import { notifyAccessChanged } from '../changed.ts';
import type { EndedKey } from './ended-keys.ts';
import type { MappingFields } from './role-mapping-store.ts';
import { listAllRoleMappings } from './role-mapping-store.ts';
import { type RoleRules, roleRules } from './role-rules.ts';
import {
  type Claims,
  countActiveAdmins,
  countTouched,
  listMappedUsers,
  type MappedUser,
  type RoleSource,
  type Touched,
  updateRoles,
} from './store.ts';

/** Ends all sessions of the people, in the transaction that takes the access away. Resolves to their number. */
type EndSessions = (
  tx: Tx,
  actor: Actor,
  userIds: readonly string[],
  reason: 'revoked' | 'role_lost',
) => Promise<number>;

export interface PeopleParts {
  endSessions: EndSessions;
  /** Ends the keys of the workspace that the person made, and what those made. Resolves to them. */
  endMadeKeys: (tx: Tx, actor: Actor, userId: string, because: string) => Promise<EndedKey[]>;
  /** The claim that says whether the e-mail is verified; `*`: it always is (OIDC_EMAIL_VERIFIED_CLAIM). */
  emailVerifiedClaim: string;
}

/** The mappings, and the role of a person whom none matches. */
export interface RolePolicy<M extends MappingFields = MappingFields & { id: string | null }> {
  rules: RoleRules<M>;
  defaultRole: Role | null;
}

/** Reads DEFAULT_ROLE; null for `none`. */
const readDefaultRole = async (executor: Executor): Promise<Role | null> => {
  const { DEFAULT_ROLE: role } = await readSettings(executor);
  return role === 'none' ? null : role;
};

/** Reads the policy that holds now, or with `mappings` in place of the stored ones. */
export const readPolicy = async (
  executor: Executor,
  { emailVerifiedClaim }: PeopleParts,
  mappings?: readonly (MappingFields & { id: string | null })[],
): Promise<RolePolicy> => ({
  rules: roleRules(mappings ?? (await listAllRoleMappings(executor)), emailVerifiedClaim),
  defaultRole: await readDefaultRole(executor),
});

/** The role that a policy gives, and the mapping that decides; null if it is the default. */
export interface GivenRole {
  role: Role | null;
  role_source: RoleSource;
  mapping: (MappingFields & { id: string | null }) | null;
}

/** Returns the role for the claims; null if they are incomplete: then nothing is decided. */
export const roleOf = ({ rules, defaultRole }: RolePolicy, claims: Claims): GivenRole | null => {
  if (rules.incomplete(claims).length > 0) return null;
  const mapping = rules.decide(claims);
  return mapping
    ? { role: mapping.role, role_source: 'mapping', mapping }
    : { role: defaultRole, role_source: 'default', mapping: null };
};

/** Runs `change`. Throws 412 if there was an active administrator before it and there is none after it. */
export const keepingAnAdmin = async <T>(tx: Tx, change: () => Promise<T>): Promise<T> => {
  const before = await countActiveAdmins(tx);
  const result = await change();
  if (before > 0 && (await countActiveAdmins(tx)) === 0) {
    throw new ApiError(
      'precondition_failed',
      'This would leave no active person who is an administrator. Make another person an administrator first.',
    );
  }
  return result;
};

/** The number of people that are read at once: their claims, 64 KB at most each, are held in memory. */
const batch = 500;

/** A person whose role is not what the policy gives. */
export interface RoleChange {
  user: MappedUser;
  given: GivenRole;
}

/** Yields, in batches, the people whose role the mappings set and who would have another role or source. */
export async function* roleChanges(
  read: (afterId: string | null, limit: number) => Promise<MappedUser[]>,
  policy: RolePolicy,
): AsyncGenerator<RoleChange[]> {
  let after: string | null = null;
  for (;;) {
    const users: MappedUser[] = await read(after, batch);
    yield users.flatMap((user) => {
      const given = roleOf(policy, user.claims);
      const same = !given || (given.role === user.role && given.role_source === user.role_source);
      return same ? [] : [{ user, given }];
    });
    if (users.length < batch) return;
    after = users.at(-1)!.id;
  }
}

/** The entry of a changed role, or of a role that stays and comes from elsewhere now. */
export const roleChangeEntry = (
  userId: string,
  before: { role: Role | null; role_source: RoleSource },
  { role, role_source, mapping }: GivenRole,
  reason: string,
  touched: Touched,
) => ({
  action: before.role === role ? 'user.update' : 'user.role_change',
  targetId: userId,
  details: {
    before: { role: before.role, role_source: before.role_source },
    after: { role, role_source },
    reason,
    role_mapping: mapping && { id: mapping.id, claim: mapping.claim, value: mapping.value },
    ...touched,
  },
});

/**
 * Gives everyone whose role is not manual the role that the policy in force gives for the kept claims. A person
 * without a role loses the sessions. Returns how many people changed. `reason` is for the audit entries.
 */
export const applyPolicy = async (
  tx: Tx,
  actor: Actor,
  parts: PeopleParts,
  reason: string,
): Promise<number> => {
  const policy = await readPolicy(tx, parts);
  let changed = 0;
  for await (const changes of roleChanges((after, limit) => listMappedUsers(tx, after, limit), policy)) {
    if (changes.length === 0) continue;
    changed += changes.length;
    const touched = await countTouched(
      tx,
      changes.map(({ user }) => user.id),
    );
    await updateRoles(
      tx,
      changes.map(({ user, given }) => ({ id: user.id, role: given.role, role_source: given.role_source })),
    );
    await auditAll(
      tx,
      actor,
      changes.map(({ user, given }) => roleChangeEntry(user.id, user, given, reason, touched.get(user.id)!)),
    );
    const lost = changes.filter(({ given }) => given.role === null).map(({ user }) => user.id);
    if (lost.length > 0) await parts.endSessions(tx, actor, lost, 'role_lost');
  }
  if (changed > 0) await notifyAccessChanged(tx);
  return changed;
};
