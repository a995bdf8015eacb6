import type { Database } from '../../database/index.ts';
import { notFound } from '../../lib/errors.ts';
import { isId } from '../../lib/ids.ts';
import type { Role } from '../../lib/principal.ts';
import type { MappingFields } from './role-mapping-store.ts';
import {
  type GivenRole,
  type PeopleParts,
  type RolePolicy,
  readPolicy,
  roleChanges,
  roleOf,
} from './roles.ts';
import {
  type Claims,
  countActiveAdmins,
  findUser,
  listMappedUsers,
  type RoleSource,
  type UserRow,
} from './store.ts';

type ProposedMapping = MappingFields & { id: string | null };

/** The request for a preview: whose role, and by which mappings. */
export interface PreviewRequest {
  claims?: Claims | undefined;
  user_id?: string | undefined;
  /** A whole set in place of the stored one. */
  mappings?: ProposedMapping[] | undefined;
}

/** The most people and the most values of a claim that a preview shows, and the most characters of a value. */
const shownUsers = 100;
const shownValues = 20;
const shownCharacters = 500;

const shorten = (value: string): string =>
  value.length <= shownCharacters ? value : [...value].slice(0, shownCharacters).join('');

/** A name with dots may mean a claim inside another one, which only a JSON Pointer reaches. */
const hintFor = ({ claim }: MappingFields): string | null =>
  claim.includes('.') && !claim.includes('/')
    ? `\`${claim}\` is the name of one claim. For a claim inside another write \`/${claim.replaceAll('~', '~0').replaceAll('.', '/')}\`.`
    : null;

/** The role that the policy gives for the claims, and why. A role that an administrator set stays. */
const explain = (policy: RolePolicy, claims: Claims, user: UserRow | undefined) => {
  const { matched, ignored } = policy.rules.explain(claims);
  const incomplete = policy.rules.incomplete(claims);
  const given: GivenRole | null = roleOf(policy, claims);
  const current = user && { role: user.role, role_source: user.role_source };
  // Incomplete claims decide nothing: a known person keeps the role, and no one else gets one.
  const undecided = current ?? { role: null, role_source: 'default' as const };
  const { role, role_source } = user?.role_source === 'manual' ? current! : (given ?? undecided);
  return {
    role,
    role_source,
    matched: matched.map((mapping) => ({ ...mapping, decides: mapping === given?.mapping })),
    ignored: ignored.map(({ mapping, reason, found }) => ({
      ...mapping,
      reason,
      found: found.slice(0, shownValues).map(shorten),
      hint: reason === 'claim_absent' ? hintFor(mapping) : null,
    })),
    incomplete,
  };
};

/** The people whose role the policy would change. */
const wouldChange = async (db: Database, policy: RolePolicy) => {
  const users: { id: string; name: string; email: string | null; from: Role | null; to: Role | null }[] = [];
  let count = 0;
  let admins = await db.run(countActiveAdmins);
  const before = admins;
  const read = (after: string | null, limit: number) =>
    db.run((executor) => listMappedUsers(executor, after, limit));
  for await (const changes of roleChanges(read, policy)) {
    for (const { user, given } of changes) {
      if (user.role === given.role) continue;
      count++;
      if (users.length < shownUsers) {
        const { id, name, email, role } = user;
        users.push({ id, name, email, from: role, to: given.role });
      }
      if (user.status === 'active') admins += Number(given.role === 'admin') - Number(user.role === 'admin');
    }
  }
  return {
    would_change_users: users,
    would_change_count: count,
    leaves_no_admin: before > 0 && admins === 0,
  };
};

const unchanged = { would_change_users: [], would_change_count: 0, leaves_no_admin: false };
const noOne = { role: null, role_source: null, matched: [], ignored: [], incomplete: [] };

/**
 * Returns which role a person or claims would have and why, and which people a proposed set of mappings would change.
 * Writes nothing. Throws 404 for an unknown person.
 */
export const previewRoleMappings = async (
  db: Database,
  parts: PeopleParts,
  { claims, user_id, mappings }: PreviewRequest,
) => {
  const user =
    user_id !== undefined && isId(user_id)
      ? await db.run((executor) => findUser(executor, user_id))
      : undefined;
  if (user_id !== undefined && !user) throw notFound('user');
  const policy = await db.run((executor) => readPolicy(executor, parts, mappings));
  const whose = claims ?? (user && (user.claims ?? {}));
  return {
    ...(whose ? explain(policy, whose, user) : (noOne as typeof noOne & { role_source: RoleSource | null })),
    // The stored mappings are in force: only a proposed set changes anyone.
    ...(mappings ? await wouldChange(db, policy) : unchanged),
  };
};
