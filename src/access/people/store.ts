import {
  type Executor,
  type Json,
  json,
  type Page,
  selectPage,
  sql,
  type Table,
  type Tx,
} from '../../database/index.ts';
import type { Role } from '../../lib/principal.ts';

export type RoleSource = 'mapping' | 'manual' | 'default';
export type UserStatus = 'invited' | 'active' | 'suspended';

/** The claims of a person: a JSON object. Integers beyond 2^53 are BigInts (lib/json.ts). */
export type Claims = Record<string, unknown>;

export interface UserRow {
  id: string;
  /** The person is (issuer, subject); both are null until the first sign-in. */
  issuer: string | null;
  subject: string | null;
  /** In ASCII lower case. */
  email: string | null;
  email_verified: boolean;
  name: string;
  /** Null: no access at present. */
  role: Role | null;
  role_source: RoleSource;
  status: UserStatus;
  /** The last claims, without those that change at each sign-in; null before the first. */
  claims: Claims | null;
  last_sign_in_at: Date | null;
  last_confirmed_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

declare module '../../database/database.ts' {
  interface Schema {
    users: Table<
      Omit<UserRow, 'claims'> & { claims: Json<Claims | null> },
      | 'issuer'
      | 'subject'
      | 'email'
      | 'email_verified'
      | 'last_sign_in_at'
      | 'last_confirmed_at'
      | 'created_at'
      | 'updated_at'
    >;
  }
}

/** Listed, because a named statement with `*` fails after a migration that adds a column. */
const shownColumns = [
  'id',
  'issuer',
  'subject',
  'email',
  'email_verified',
  'name',
  'role',
  'role_source',
  'status',
  'last_sign_in_at',
  'last_confirmed_at',
  'created_at',
  'updated_at',
] as const;
const columns = [...shownColumns, 'claims'] as const;

/** A person without the claims, which may have 64 KB. */
export type ShownUser = Omit<UserRow, 'claims'>;

export interface UserFilter {
  status?: UserStatus | undefined;
  /** `none`: no role. */
  role?: Role | 'none' | undefined;
  role_source?: RoleSource | undefined;
  /** In ASCII lower case. */
  email?: string | undefined;
  subject?: string | undefined;
}

/** Newest first. */
export const listUsers = (
  executor: Executor,
  { limit, next, role, ...filter }: Page & UserFilter,
): Promise<ShownUser[]> => {
  let query = executor.selectFrom('users').select(shownColumns);
  if (role === 'none') query = query.where('role', 'is', null);
  else if (role !== undefined) query = query.where('role', '=', role);
  for (const [column, value] of Object.entries(filter)) {
    if (value !== undefined) query = query.where(column as keyof typeof filter, '=', value);
  }
  return selectPage(query, { limit, next });
};

export const findUser = (executor: Executor, id: string): Promise<UserRow | undefined> =>
  executor.selectFrom('users').select(columns).where('id', '=', id).executeTakeFirst();

/** The person with this id, locked: no one changes or deletes the person until the transaction ends. */
export const lockUserForShare = (
  tx: Tx,
  id: string,
): Promise<Pick<UserRow, 'id' | 'status' | 'role'> | undefined> =>
  tx.selectFrom('users').select(['id', 'status', 'role']).where('id', '=', id).forShare().executeTakeFirst();

/** The person with this issuer and subject, compared byte for byte. */
export const findUserByIdentity = (tx: Tx, issuer: string, subject: string): Promise<UserRow | undefined> =>
  tx
    .selectFrom('users')
    .select(columns)
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst();

/** The invitation of this address, which has no identity yet; also a suspended one. */
export const findInvitation = (tx: Tx, email: string): Promise<UserRow | undefined> =>
  tx
    .selectFrom('users')
    .select(columns)
    .where('email', '=', email)
    .where('issuer', 'is', null)
    .where('subject', 'is', null)
    .executeTakeFirst();

/** Resolves to whether a suspended person or invitation has this address. */
export const isSuspendedAddress = async (tx: Tx, email: string): Promise<boolean> =>
  (await tx
    .selectFrom('users')
    .select('id')
    .where('email', '=', email)
    .where('status', '=', 'suspended')
    .limit(1)
    .executeTakeFirst()) !== undefined;

/** The ids of the people and invitations with this address, the oldest first: at most 20. */
export const listUserIdsByEmail = async (tx: Tx, email: string): Promise<string[]> =>
  (
    await tx.selectFrom('users').select('id').where('email', '=', email).orderBy('id').limit(20).execute()
  ).map(({ id }) => id);

type UserFields = Omit<UserRow, 'id' | 'created_at' | 'updated_at'>;

export const insertUser = (
  tx: Tx,
  id: string,
  {
    claims,
    ...fields
  }: Pick<UserFields, 'email' | 'name' | 'role' | 'role_source' | 'status'> & Partial<UserFields>,
): Promise<UserRow> =>
  tx
    .insertInto('users')
    .values({ id, ...fields, claims: claims ? json(claims) : null })
    .returning(columns)
    .executeTakeFirstOrThrow();

/** Writes the fields, and the time of the change. */
export const updateUserRow = (
  tx: Tx,
  id: string,
  fields: Partial<Omit<UserFields, 'claims' | 'last_sign_in_at' | 'last_confirmed_at'>>,
): Promise<UserRow> =>
  tx
    .updateTable('users')
    .set({ ...fields, updated_at: sql<Date>`platform_now()` })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow();

/** Writes the claims that the provider last sent. */
export const updateClaims = async (tx: Tx, id: string, claims: Claims): Promise<void> => {
  await tx
    .updateTable('users')
    .set({ claims: json(claims) })
    .where('id', '=', id)
    .execute();
};

/** Writes that the provider confirmed the person now, by a sign-in or by a refresh. */
export const confirmUser = (tx: Tx, id: string, by: 'sign_in' | 'refresh'): Promise<UserRow> =>
  tx
    .updateTable('users')
    .set({
      last_confirmed_at: sql<Date>`platform_now()`,
      ...(by === 'sign_in' && { last_sign_in_at: sql<Date>`platform_now()` }),
    })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow();

/** Deletes the person; the database deletes the keys and sessions with it. */
export const deleteUserRow = async (tx: Tx, id: string): Promise<void> => {
  await tx.deleteFrom('users').where('id', '=', id).execute();
};

export const countUsers = async (executor: Executor): Promise<number> =>
  (
    await executor
      .selectFrom('users')
      .select((eb) => eb.fn.countAll<number>().as('n'))
      .executeTakeFirstOrThrow()
  ).n;

/** The number of people who are administrators and may sign in. */
export const countActiveAdmins = async (executor: Executor): Promise<number> =>
  (
    await executor
      .selectFrom('users')
      .select((eb) => eb.fn.countAll<number>().as('n'))
      .where('role', '=', 'admin')
      .where('status', '=', 'active')
      .executeTakeFirstOrThrow()
  ).n;

/** The numbers of keys and sessions that a person has. */
export interface Touched {
  keys: number;
  sessions: number;
}

/** Returns what each of the people has, by id. */
export const countTouched = async (tx: Tx, ids: readonly string[]): Promise<Map<string, Touched>> => {
  const { rows } = await sql<{ id: string } & Touched>`select person.id,
      (select count(*) from api_keys where owner_user_id = person.id) as keys,
      (select count(*) from sessions where user_id = person.id) as sessions
    from unnest(${ids}::uuid[]) as person(id)`.execute(tx);
  return new Map(rows.map(({ id, keys, sessions }) => [id, { keys, sessions }]));
};

/** Returns what one person has. */
export const countTouchedOf = async (tx: Tx, id: string): Promise<Touched> =>
  (await countTouched(tx, [id])).get(id)!;

/** A person whose role the mappings set. */
export type MappedUser = Pick<UserRow, 'id' | 'name' | 'email' | 'role' | 'role_source' | 'status'> & {
  claims: Claims;
};

/** The next people after `afterId` (null: the first), in the order of their ids, whose role the mappings set. */
export const listMappedUsers = async (
  executor: Executor,
  afterId: string | null,
  limit: number,
): Promise<MappedUser[]> => {
  const query = executor
    .selectFrom('users')
    .select(['id', 'name', 'email', 'role', 'role_source', 'status', 'claims'])
    .where('role_source', '<>', 'manual')
    .where('claims', 'is not', null)
    .orderBy('id')
    .limit(limit);
  const rows = await (afterId === null ? query : query.where('id', '>', afterId)).execute();
  return rows as MappedUser[];
};

/** Writes the roles of many people. */
export const updateRoles = async (
  tx: Tx,
  changes: readonly Pick<UserRow, 'id' | 'role' | 'role_source'>[],
): Promise<void> => {
  await sql`update users set role = change.role, role_source = change.role_source, updated_at = platform_now()
    from unnest(${changes.map(({ id }) => id)}::uuid[], ${changes.map(({ role }) => role)}::text[],
      ${changes.map(({ role_source }) => role_source)}::text[]) as change(id, role, role_source)
    where users.id = change.id`.execute(tx);
};
