import {
  type Executor,
  type Page,
  type RawBuilder,
  selectPage,
  sql,
  type Table,
  type Tx,
} from '../../database/index.ts';
import { isId } from '../../lib/ids.ts';
import { type Role, roles, type Scope } from '../../lib/principal.ts';
import { idsMadeBy } from './made-keys-store.ts';

export interface ApiKeyRow {
  id: string;
  name: string;
  kind: 'service_account' | 'personal';
  role: Role | null;
  user_id: string | null;
  value_hash: string;
  prefix: string;
  created_by: string;
  created_at: Date;
  last_used_at: Date | null;
  last_used_ip: string | null;
  expires_at: Date | null;
  /** Null: all that the role allows. */
  scopes: Scope[] | null;
  /** The key that a rotation made in place of this one. */
  replaced_by: string | null;
  /** The first key of a service account, if a rotation made this one. The account acts under that id. */
  account_id: string | null;
  /** Whom it belongs to: the person `owner_user_id`, or the workspace. */
  owner: 'person' | 'workspace';
  owner_user_id: string | null;
  /** The person who made it, in a session or with a key of theirs; null: a key of the workspace made it. */
  made_by_user_id: string | null;
  /** The key with which it was made; it may be gone. */
  made_with_key_id: string | null;
  /** The person who got its value by a rotation, if it belongs to someone else. */
  rotated_by_user_id: string | null;
  /** The other key that got its value by a rotation; it may be gone. */
  rotated_with_key_id: string | null;
  /** The service account whose limits a key of the workspace shares; null: it has limits of its own. */
  root_id: string | null;
  /** The end that the first key had: no rotation passes it. Null: it had none. */
  first_end: Date | null;
}

/** The columns that the database or a later statement writes. */
type Written = 'created_at' | 'last_used_at' | 'last_used_ip' | 'replaced_by';

declare module '../../database/database.ts' {
  interface Schema {
    api_keys: Table<ApiKeyRow, Written>;
  }
}

/** A key without its hash, with the person that it belongs to. Times are by the database's clock. */
export type Key = Omit<ApiKeyRow, 'value_hash' | 'role' | 'rotated_by_user_id' | 'rotated_with_key_id'> & {
  /** The role that it was made with; null for a personal key. */
  own_role: Role | null;
  /** The role that it acts with: its own, and not above that of its person. Null while its person has no access. */
  role: Role | null;
  /** The name of the person that it belongs to; null for a key of the workspace. */
  owner_name: string | null;
  /** The reason why its person has no access, whatever the time; null for a key of the workspace. */
  blocked_by: 'suspended' | 'unbound' | 'no_role' | null;
  /** For how many days the provider has not confirmed the person of a personal key; null for a service account. */
  unconfirmed_days: number | null;
  /** Milliseconds until it expires, negative afterwards; null: never. */
  expires_in_ms: number | null;
};

export type KeyStatus = 'active' | 'paused' | 'expired';

const blockedBy = sql<Key['blocked_by']>`case when k.owner_user_id is null then null
  when o.status = 'suspended' then 'suspended'
  when o.status <> 'active' or o.issuer is null or o.subject is null then 'unbound'
  when o.role is null then 'no_role' end`;

const rank = (role: RawBuilder<unknown>) =>
  sql`array_position(${sql.lit(`{${roles.join(',')}}`)}::text[], ${role})`;
/** The lower of the role that the key was made with and that of its person. */
const roleNow = sql<Role | null>`case when k.owner_user_id is null then k.role
  when k.role is null or o.role is null or ${rank(sql`o.role`)} < ${rank(sql`k.role`)} then o.role
  else k.role end`;

const unconfirmedDays = sql<number | null>`case when k.kind <> 'personal' then null
  else (extract(epoch from platform_now() - coalesce(o.last_confirmed_at, o.created_at)) / 86400)::float8 end`;

/**
 * The columns that decide who acts with the key `k` that belongs to the person `o`, by the database's clock;
 * `keyPrincipal` reads them.
 */
export const keyAccess = [
  'o.name as owner_name',
  'k.account_id',
  'k.owner_user_id',
  'k.root_id',
  roleNow.as('role'),
  blockedBy.as('blocked_by'),
  unconfirmedDays.as('unconfirmed_days'),
  sql<number | null>`(extract(epoch from k.expires_at - platform_now()) * 1000)::float8`.as('expires_in_ms'),
] as const;

const selectKeys = (executor: Executor) =>
  executor
    .selectFrom('api_keys as k')
    .leftJoin('users as o', 'o.id', 'k.owner_user_id')
    .select([
      'k.id',
      'k.name',
      'k.kind',
      'k.user_id',
      'k.prefix',
      'k.created_by',
      'k.created_at',
      'k.last_used_at',
      'k.last_used_ip',
      'k.expires_at',
      'k.scopes',
      'k.replaced_by',
      'k.role as own_role',
      'k.owner',
      'k.made_by_user_id',
      'k.made_with_key_id',
      'k.first_end',
      ...keyAccess,
    ]);

/** The key with this hash, also one that has expired or is paused: `keyPrincipal` decides. */
export const findKeyByHash = (executor: Executor, hash: string): Promise<Key | undefined> =>
  selectKeys(executor).where('k.value_hash', '=', hash).executeTakeFirst();

export interface KeyFilter {
  kind?: ApiKeyRow['kind'];
  user_id?: string;
  created_by?: string;
  /** The id of a person, or `workspace`. */
  owner?: string;
  /** The id of a person or a key: what `end_made_keys` would end. */
  made_by?: string;
  status?: KeyStatus;
  /** A part of the name, or the first characters of the value. */
  q?: string | undefined;
}

/** As `keyStatus` (key-principal.ts), in SQL. */
const statusIn = (confirmationDays: number) =>
  sql<KeyStatus>`case when k.expires_at <= platform_now() then 'expired'
    when ${blockedBy} is not null then 'paused'
    when ${confirmationDays}::int > 0 and ${unconfirmedDays} > ${confirmationDays}::int then 'paused'
    else 'active' end`;

/**
 * Newest first. `manager` null: the keys of everyone; else those that this principal created or owns, and of one that it
 * may delete (`made_by`) all that would end with it.
 */
export const listKeys = (
  executor: Executor,
  manager: { id: string; keyId: string | null } | null,
  { kind, user_id, created_by, owner, made_by, status, q, ...page }: Page & KeyFilter,
  confirmationDays: number,
): Promise<Key[]> => {
  let query = selectKeys(executor);
  if (manager !== null) {
    const person = isId(manager.id) ? manager.id : null;
    const maker = isId(made_by ?? '') ? made_by : null;
    query =
      query.where(sql<boolean>`(k.created_by = ${manager.id} or k.owner_user_id = ${person}::uuid or exists (
      select 1 from api_keys maker where maker.id = ${maker}::uuid and (maker.created_by = ${manager.id}
        or maker.owner_user_id = ${person}::uuid or maker.id = ${manager.keyId}::uuid)))`);
  }
  if (kind !== undefined) query = query.where('k.kind', '=', kind);
  // Equal to null is no row: a malformed id is like an unknown one.
  if (user_id !== undefined) query = query.where('k.user_id', '=', isId(user_id) ? user_id : null);
  if (created_by !== undefined) query = query.where('k.created_by', '=', created_by);
  if (owner === 'workspace') query = query.where('k.owner', '=', 'workspace');
  else if (owner !== undefined) query = query.where('k.owner_user_id', '=', isId(owner) ? owner : null);
  if (made_by !== undefined)
    query = query.where(sql<boolean>`k.id in (${idsMadeBy(isId(made_by) ? made_by : null)})`);
  if (status !== undefined) query = query.where(statusIn(confirmationDays), '=', status);
  if (q !== undefined) {
    query = query.where(
      sql<boolean>`(strpos(lower(k.name), lower(${q})) > 0 or starts_with(k.prefix, ${q}))`,
    );
  }
  return selectPage(query, page, 'k.id');
};

/** The names of those of `ids` that are people or keys. */
export const listPrincipalNames = async (
  executor: Executor,
  ids: readonly string[],
): Promise<{ id: string; name: string }[]> => {
  const known = ids.filter(isId);
  const { rows } = await sql<{ id: string; name: string }>`
    select id::text, name from users where id = any(${known}::uuid[])
    union all select coalesce(account_id, id)::text, name from api_keys
    where coalesce(account_id, id) = any(${known}::uuid[]) order by name`.execute(executor);
  return rows;
};

/** Whose limits count for what the principal `id` does later (`Principal.rootId`). */
export const findRootId = async (executor: Executor, id: string): Promise<string> => {
  if (!isId(id)) return id;
  const { rows } = await sql<{ root: string }>`
    select coalesce(owner_user_id, root_id, account_id, id)::text as root from api_keys
    where coalesce(account_id, id) = ${id}::uuid limit 1`.execute(executor);
  return rows[0]?.root ?? id;
};

/** The kind of the principal `id`, also of a person who was deleted. Any other that is gone counts as a service account. */
export const findPrincipalKind = async (
  executor: Executor,
  id: string,
): Promise<'person' | 'service_account' | 'system'> => {
  if (!isId(id)) return id === 'bootstrap' ? 'service_account' : 'system';
  const { rows } = await sql`
    select 1 from users where id = ${id}::uuid union all
    select 1 from audits where target_type = 'user' and target_id = ${id} limit 1`.execute(executor);
  return rows.length > 0 ? 'person' : 'service_account';
};

export const findKey = (executor: Executor, id: string): Promise<Key | undefined> =>
  selectKeys(executor).where('k.id', '=', id).executeTakeFirst();

export const insertKey = async (tx: Tx, key: Omit<ApiKeyRow, Written>): Promise<void> => {
  await tx.insertInto('api_keys').values(key).execute();
};

/** The key with its hash, locked: no one else changes it until the transaction ends. */
export const lockKey = (tx: Tx, id: string): Promise<(Key & Pick<ApiKeyRow, 'value_hash'>) | undefined> =>
  selectKeys(tx).select('k.value_hash').where('k.id', '=', id).forUpdate('k').executeTakeFirst();

/** The key's end, owner and maker, locked: no one changes or deletes the key until the transaction ends. */
export const lockKeyForShare = (
  tx: Tx,
  id: string,
): Promise<Pick<ApiKeyRow, 'expires_at' | 'owner_user_id' | 'created_by'> | undefined> =>
  tx
    .selectFrom('api_keys')
    .select(['expires_at', 'owner_user_id', 'created_by'])
    .where('id', '=', id)
    .forShare()
    .executeTakeFirst();

/** Writes that a key was rotated, and when it expires. */
export const updateReplaced = async (
  tx: Tx,
  id: string,
  fields: { replaced_by: string; expires_at: Date },
): Promise<void> => {
  await tx.updateTable('api_keys').set(fields).where('id', '=', id).execute();
};

/** Returns whether there was such a key. */
export const deleteKey = async (tx: Tx, id: string): Promise<boolean> =>
  (await tx.deleteFrom('api_keys').where('id', '=', id).executeTakeFirst()).numDeletedRows > 0n;

/** Writes that the key was used now, from the address `ip`; at most once a minute, whichever replica calls. */
export const touchKey = async (executor: Executor, id: string, ip: string): Promise<void> => {
  await sql`update api_keys set last_used_at = platform_now(), last_used_ip = ${ip}
    where id = ${id} and (last_used_at is null or last_used_at < platform_now() - interval '1 minute')`.execute(
    executor,
  );
};

export const countKeys = async (executor: Executor): Promise<number> =>
  (
    await executor
      .selectFrom('api_keys')
      .select((eb) => eb.fn.countAll<number>().as('n'))
      .executeTakeFirstOrThrow()
  ).n;
