import { type Executor, sql } from '../../database/index.ts';
import { asciiLower } from '../../lib/email.ts';
import type { Principal, Role } from '../../lib/principal.ts';

/** People whom other systems know by their e-mail. */

/** A person as a message knows one. */
interface Addressee {
  id: string;
  name: string;
  /** In ASCII lower case; null: the identity provider has not verified it. */
  email: string | null;
  /** Active, and has signed in. */
  isActive: boolean;
}

const isActive = sql<boolean>`(status = 'active' and issuer is not null and subject is not null)`;
const verifiedEmail = sql<string | null>`case when email_verified then email end`;

/** In the order of the ids; unknown ones are left out. */
const listByIds = async (executor: Executor, ids: readonly string[]): Promise<Addressee[]> => {
  const { rows } = await sql<Addressee>`select id, name, ${verifiedEmail} as email, ${isActive} as "isActive"
    from users where id = any(${ids}::uuid[]) order by array_position(${ids}::uuid[], id)`.execute(executor);
  return rows;
};

/** The active people with exactly this role, the first `most` of them by name. */
const listActiveWithRole = async (executor: Executor, role: Role, most: number): Promise<Addressee[]> => {
  const { rows } = await sql<Addressee>`select id, name, ${verifiedEmail} as email, true as "isActive"
    from users where role = ${role} and ${isActive} order by lower(name), id limit ${most}`.execute(executor);
  return rows;
};

/** The people and invitations with these e-mails, in ASCII lower case. */
const listIdsByEmail = async (
  executor: Executor,
  emails: readonly string[],
): Promise<Map<string, string>> => {
  const { rows } = await sql<{ id: string; email: string }>`select id, email from users
    where email = any(${emails}::text[]) order by id desc`.execute(executor);
  return new Map(rows.map(({ id, email }) => [email, id]));
};

/** The e-mails by which `listIdsByEmail` finds these people and invitations, whether they are verified or not. */
const listEmails = async (executor: Executor, ids: readonly string[]): Promise<Map<string, string>> => {
  const { rows } = await sql<{ id: string; email: string }>`select id, email from users u
    where id = any(${ids}::uuid[]) and email is not null
      and not exists (select from users older where older.email = u.email and older.id < u.id)`.execute(
    executor,
  );
  return new Map(rows.map(({ id, email }) => [id, email]));
};

interface Candidate {
  id: string;
  name: string;
  role: Role | null;
  status: string;
  is_active: boolean;
  email_verified: boolean;
  unconfirmed_days: number;
}

const refusalOf = (found: readonly Candidate[], confirmationDays: number): string | null => {
  const [person] = found;
  if (person === undefined) return 'No one here has the e-mail of your account in Slack.';
  if (found.length > 1) return 'More than one person here has the e-mail of your account in Slack.';
  if (!person.email_verified) return 'Your e-mail here is not verified by the identity provider.';
  if (person.status === 'suspended') return 'Your access is suspended.';
  if (!person.is_active) return 'You have not signed in here yet.';
  if (person.role === null) return 'You have no role here at present.';
  if (confirmationDays > 0 && person.unconfirmed_days > confirmationDays) {
    return `The identity provider has not confirmed you for more than ${confirmationDays} days. Sign in once.`;
  }
  return null;
};

/**
 * Returns who acts if another system vouches for an e-mail, or a sentence that says why no one does: exactly one person has
 * it, verified, active, with a role, and confirmed as a personal key needs it (`confirmationDays`; 0 switches that off).
 */
const findPrincipalByEmail = async (
  executor: Executor,
  email: string,
  confirmationDays: number,
): Promise<{ principal: Principal } | { refused: string }> => {
  const { rows } =
    await sql<Candidate>`select id, name, role, status, ${isActive} as is_active, email_verified,
      (extract(epoch from platform_now() - coalesce(last_confirmed_at, created_at)) / 86400)::float8 as unconfirmed_days
    from users where email = ${asciiLower(email)} limit 2`.execute(executor);
  const refused = refusalOf(rows, confirmationDays);
  if (refused !== null) return { refused };
  const { id, name, role } = rows[0]!;
  return {
    principal: {
      kind: 'person',
      id,
      rootId: id,
      name,
      role: role!,
      keyId: null,
      scopes: null,
      sessionId: null,
    },
  };
};

export const addressees = { listByIds, listActiveWithRole, listIdsByEmail, listEmails, findPrincipalByEmail };
