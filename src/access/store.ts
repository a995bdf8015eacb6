import { type Executor, type Page, selectPage, sql, type Table, type Tx } from '../database/index.ts';
import type { Role } from '../lib/principal.ts';

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
  expires_at: Date | null;
}

declare module '../database/database.ts' {
  interface Schema {
    api_keys: Table<ApiKeyRow, 'created_at' | 'last_used_at'>;
    users: {
      id: string;
      subject: string;
      email: string | null;
      name: string;
      role: Role;
      created_at: Date;
      updated_at: Date;
    };
  }
}

/** A key as clients see it: with the role that it has now, and without its hash. */
export type ShownKey = Omit<ApiKeyRow, 'value_hash' | 'role'> & { role: Role; user_name: string | null };

const shownKeys = (executor: Executor) =>
  executor
    .selectFrom('api_keys as k')
    .leftJoin('users as u', 'u.id', 'k.user_id')
    .select([
      'k.id',
      'k.name',
      'k.kind',
      'k.user_id',
      'k.prefix',
      'k.created_by',
      'k.created_at',
      'k.last_used_at',
      'k.expires_at',
      'u.name as user_name',
      sql<Role>`coalesce(u.role, k.role)`.as('role'),
    ]);

/** The key with this hash, if it has not expired. */
export const findKeyByHash = async (executor: Executor, hash: string): Promise<ShownKey | undefined> =>
  shownKeys(executor)
    .where('k.value_hash', '=', hash)
    .where((eb) =>
      eb.or([eb('k.expires_at', 'is', null), eb('k.expires_at', '>', sql<Date>`platform_now()`)]),
    )
    .executeTakeFirst();

/** Newest first. `createdBy` null: the keys of everyone. */
export const listKeys = (executor: Executor, createdBy: string | null, page: Page): Promise<ShownKey[]> => {
  const query = shownKeys(executor);
  return selectPage(createdBy === null ? query : query.where('k.created_by', '=', createdBy), page, 'k.id');
};

export const findKey = (executor: Executor, id: string): Promise<ShownKey | undefined> =>
  shownKeys(executor).where('k.id', '=', id).executeTakeFirst();

export const insertKey = async (
  tx: Tx,
  key: Pick<
    ApiKeyRow,
    'id' | 'name' | 'kind' | 'role' | 'user_id' | 'value_hash' | 'prefix' | 'created_by' | 'expires_at'
  >,
): Promise<void> => {
  await tx.insertInto('api_keys').values(key).execute();
};

/** Returns whether there was such a key. */
export const deleteKey = async (tx: Tx, id: string): Promise<boolean> =>
  (await tx.deleteFrom('api_keys').where('id', '=', id).executeTakeFirst()).numDeletedRows > 0n;

/** Sets `last_used_at` to now. */
export const touchKey = async (executor: Executor, id: string): Promise<void> => {
  await sql`update api_keys set last_used_at = platform_now() where id = ${id}`.execute(executor);
};

export const countKeys = async (executor: Executor): Promise<number> =>
  (
    await executor
      .selectFrom('api_keys')
      .select((eb) => eb.fn.countAll<number>().as('n'))
      .executeTakeFirstOrThrow()
  ).n;
