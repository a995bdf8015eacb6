import {
  type Executor,
  type Page,
  type RawBuilder,
  selectPage,
  sql,
  type Table,
  type Tx,
} from '../../database/index.ts';
import type { Role } from '../../lib/principal.ts';
import type { AccessKey } from '../keys/key-principal.ts';
import { keyAccess } from '../keys/store.ts';
import type { UserStatus } from '../people/store.ts';
import type { Limits } from './lifetime.ts';

export interface SessionRow {
  id: string;
  /** SHA-256 of the cookie's value. */
  value_hash: string;
  /** Who it acts as: the id of a person, of a service account's key, or `bootstrap`. */
  principal_id: string;
  method: 'oidc' | 'api_key';
  user_id: string | null;
  key_id: string | null;
  /** SHA-256 of the bootstrap key that it was made with. */
  bootstrap_hash: string | null;
  /** The provider's `sid`. */
  provider_sid: string | null;
  /** Sealed, like the refresh token. */
  id_token: string | null;
  refresh_token: string | null;
  ip: string | null;
  user_agent: string | null;
  created_at: Date;
  last_seen_at: Date;
  confirmed_at: Date;
  /** The replica that asks the provider holds the lease until this time, by this token. */
  lease_until: Date | null;
  lease_token: string | null;
  /** The provider did not respond: it is asked again after this time. */
  retry_at: Date | null;
}

type Defaults = 'created_at' | 'last_seen_at' | 'confirmed_at' | 'lease_until' | 'lease_token' | 'retry_at';

declare module '../../database/database.ts' {
  interface Schema {
    sessions: Table<SessionRow, Defaults>;
  }
}

/** The database's time `seconds` ago. */
export const secondsAgo = (seconds: number): RawBuilder<Date> =>
  sql<Date>`platform_now() - make_interval(secs => ${seconds})`;

/** A session with its key and its person, as a request needs them. */
export type SessionOfRequest = Pick<
  SessionRow,
  | 'id'
  | 'method'
  | 'user_id'
  | 'key_id'
  | 'bootstrap_hash'
  | 'created_at'
  | 'last_seen_at'
  | 'confirmed_at'
  | 'retry_at'
> & {
  /** The database's time of the query. */
  now: Date;
  has_refresh_token: boolean;
  user_name: string | null;
  user_role: Role | null;
  user_status: UserStatus | null;
  key_name: string | null;
  key_kind: AccessKey['kind'] | null;
  key_scopes: AccessKey['scopes'];
} & Pick<
    AccessKey,
    | 'owner_name'
    | 'owner_user_id'
    | 'account_id'
    | 'root_id'
    | 'role'
    | 'blocked_by'
    | 'unconfirmed_days'
    | 'expires_in_ms'
  >;

/** The session with this hash, also if it has ended by time, with its key and its person. */
export const findSessionOfRequest = (
  executor: Executor,
  hash: string,
): Promise<SessionOfRequest | undefined> =>
  executor
    .selectFrom('sessions as s')
    .leftJoin('users as u', 'u.id', 's.user_id')
    .leftJoin('api_keys as k', 'k.id', 's.key_id')
    .leftJoin('users as o', 'o.id', 'k.owner_user_id')
    .select([
      's.id',
      's.method',
      's.user_id',
      's.key_id',
      's.bootstrap_hash',
      's.created_at',
      's.last_seen_at',
      's.confirmed_at',
      's.retry_at',
      sql<Date>`platform_now()`.as('now'),
      sql<boolean>`s.refresh_token is not null`.as('has_refresh_token'),
      'u.name as user_name',
      'u.role as user_role',
      'u.status as user_status',
      'k.name as key_name',
      'k.kind as key_kind',
      'k.scopes as key_scopes',
      ...keyAccess,
    ])
    .where('s.value_hash', '=', hash)
    .executeTakeFirst();

/** A session as clients see it. */
export type ShownSession = Pick<
  SessionRow,
  | 'id'
  | 'principal_id'
  | 'method'
  | 'user_id'
  | 'key_id'
  | 'bootstrap_hash'
  | 'ip'
  | 'user_agent'
  | 'created_at'
  | 'last_seen_at'
> & {
  /** When the key that it was made with expires; null: never, or there is none. */
  key_expires_at: Date | null;
};

/** The sessions that `limits` have not ended. */
const shownSessions = (executor: Executor, limits: Limits) =>
  executor
    .selectFrom('sessions')
    .select([
      'id',
      'principal_id',
      'method',
      'user_id',
      'key_id',
      'bootstrap_hash',
      'ip',
      'user_agent',
      'created_at',
      'last_seen_at',
      sql<Date | null>`(select expires_at from api_keys where api_keys.id = sessions.key_id)`.as(
        'key_expires_at',
      ),
    ])
    .where('created_at', '>', secondsAgo(limits.SESSION_MAX_SECONDS))
    .where('last_seen_at', '>', secondsAgo(limits.SESSION_IDLE_SECONDS));

/** Whose sessions: a principal's, or only those of a principal that is a person. */
export type SessionOwner = { principalId: string } | { userId: string };

const isOf = (owner: SessionOwner): RawBuilder<boolean> =>
  'userId' in owner
    ? sql<boolean>`(principal_id = ${owner.userId} and user_id is not null)`
    : sql<boolean>`principal_id = ${owner.principalId}`;

/** Newest first. */
export const listSessions = (
  executor: Executor,
  owner: SessionOwner,
  limits: Limits,
  page: Page,
): Promise<ShownSession[]> => selectPage(shownSessions(executor, limits).where(isOf(owner)), page);

export const findSession = (
  executor: Executor,
  id: string,
  limits: Limits,
): Promise<ShownSession | undefined> =>
  shownSessions(executor, limits).where('id', '=', id).executeTakeFirst();

export const insertSession = async (tx: Tx, session: Omit<SessionRow, Defaults>): Promise<void> => {
  await tx.insertInto('sessions').values(session).execute();
};

/**
 * Which sessions end. `providerUserId`: those that this person made with the provider. `before`: made before this time, or
 * in the same second.
 */
export type EndedSessions =
  | { id: string; leaseToken?: string }
  | { valueHash: string }
  | { providerUserId: string; before: Date }
  | { userIds: readonly string[] }
  | { providerSid: string; before: Date }
  | { owner: SessionOwner; except: string | null };

/** A session that was deleted. */
export type DeletedSession = Pick<
  SessionRow,
  'id' | 'method' | 'principal_id' | 'user_id' | 'key_id' | 'id_token' | 'refresh_token'
>;

const isBefore = (time: Date): RawBuilder<boolean> =>
  sql<boolean>`date_trunc('second', created_at) <= date_trunc('second', ${time}::timestamptz)`;

const conditionOf = (which: EndedSessions): RawBuilder<boolean> => {
  if ('id' in which) {
    return which.leaseToken === undefined
      ? sql<boolean>`id = ${which.id}`
      : sql<boolean>`id = ${which.id} and lease_token = ${which.leaseToken}`;
  }
  if ('valueHash' in which) return sql<boolean>`value_hash = ${which.valueHash}`;
  if ('userIds' in which) return sql<boolean>`user_id = any(${which.userIds}::uuid[])`;
  if ('owner' in which) {
    const owned = isOf(which.owner);
    return which.except === null ? owned : sql<boolean>`${owned} and id <> ${which.except}`;
  }
  return 'providerSid' in which
    ? sql<boolean>`provider_sid = ${which.providerSid} and ${isBefore(which.before)}`
    : sql<boolean>`user_id = ${which.providerUserId} and method = 'oidc' and ${isBefore(which.before)}`;
};

export const deleteSessions = async (tx: Tx, which: EndedSessions): Promise<DeletedSession[]> =>
  (
    await sql<DeletedSession>`delete from sessions where ${conditionOf(which)}
      returning id, method, principal_id, user_id, key_id, id_token, refresh_token`.execute(tx)
  ).rows;

/** Deletes a session that has ended already. */
export const deleteSession = async (executor: Executor, id: string): Promise<void> => {
  await executor.deleteFrom('sessions').where('id', '=', id).execute();
};

/** Deletes the oldest sessions of the principal beyond `most`. Returns their ids. */
export const deleteOldestSessions = async (tx: Tx, principalId: string, most: number): Promise<string[]> =>
  (
    await sql<{ id: string }>`delete from sessions where id in
        (select id from sessions where principal_id = ${principalId} order by created_at desc, id desc offset ${most})
      returning id`.execute(tx)
  ).rows.map(({ id }) => id);

/** Deletes at most `most` sessions that `limits` have ended. Returns how many. */
export const deleteEndedSessions = async (tx: Tx, limits: Limits, most: number): Promise<number> => {
  const { numAffectedRows } = await sql`delete from sessions where id in (select id from sessions
      where created_at <= ${secondsAgo(limits.SESSION_MAX_SECONDS)}
        or last_seen_at <= ${secondsAgo(limits.SESSION_IDLE_SECONDS)}
      limit ${most})`.execute(tx);
  return Number(numAffectedRows ?? 0n);
};

/** Sets `last_seen_at` to now, unless it was set within `seconds`. */
export const touchSession = async (executor: Executor, id: string, seconds: number): Promise<void> => {
  await sql`update sessions set last_seen_at = platform_now()
    where id = ${id} and last_seen_at <= ${secondsAgo(seconds)}`.execute(executor);
};
