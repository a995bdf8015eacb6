import { type RawBuilder, sql, type Tx } from '../../database/index.ts';

/** A key that ends with the person or the key that made it. */
export interface MadeKey {
  id: string;
  name: string;
  prefix: string;
}

/**
 * Selects the ids of the keys that end with `id`. Of a person: the keys of the workspace that the person made, keys of
 * others that the person rotated, and what those made. Of a key: what it made or rotated, or a key that it replaced, and
 * what those made. A key that a rotation made has the maker of the one that it replaced, so it is among them, too. Null:
 * none.
 */
export const idsMadeBy = (id: string | null): RawBuilder<{ id: string }> => sql<{ id: string }>`
  with recursive account (id) as (
    select ${id}::uuid
    union select k.id from api_keys k join account a on k.replaced_by = a.id
  ), made (id) as (
    select k.id from api_keys k where k.made_by_user_id = ${id}::uuid and k.owner = 'workspace'
    union select k.id from api_keys k
      where k.rotated_by_user_id = ${id}::uuid and k.owner_user_id is distinct from ${id}::uuid
    union select k.id from api_keys k join account a on a.id in (k.made_with_key_id, k.rotated_with_key_id)
    union select k.id from api_keys k join made m on m.id in (k.made_with_key_id, k.rotated_with_key_id)
  ) select made.id from made where made.id not in (select account.id from account)`;

/**
 * Deletes the keys that `idsMadeBy` selects, also what they make in the meantime: their locks wait for requests that are
 * making one. Returns them in the order of their creation.
 */
export const deleteMadeKeys = async (tx: Tx, id: string): Promise<MadeKey[]> => {
  for (let locked = -1; ; ) {
    const found =
      await sql`select 1 from api_keys where id in (${idsMadeBy(id)}) order by id for update`.execute(tx);
    if (found.rows.length === locked) break;
    locked = found.rows.length;
  }
  const { rows } = await sql<MadeKey>`delete from api_keys where id in (${idsMadeBy(id)})
    returning id, name, prefix`.execute(tx);
  return rows.sort((a, b) => (a.id < b.id ? -1 : 1));
};

/** Resolves to whether a key with this id exists; false for null. */
export const isKey = async (tx: Tx, id: string | null): Promise<boolean> =>
  id !== null &&
  (await tx.selectFrom('api_keys').select('id').where('id', '=', id).executeTakeFirst()) !== undefined;

/** Before the key `id` is deleted: what it made or rotated passes to the key `heir`, or to no key, and to who made it. */
export const passMadeKeysOn = async (
  tx: Tx,
  id: string,
  { heir, userId }: { heir: string | null; userId: string | null },
): Promise<void> => {
  await sql`update api_keys set made_with_key_id = ${heir}, made_by_user_id = coalesce(made_by_user_id, ${userId}::uuid)
    where made_with_key_id = ${id}`.execute(tx);
  await sql`update api_keys set rotated_with_key_id = ${heir}, rotated_by_user_id = coalesce(rotated_by_user_id, ${userId}::uuid)
    where rotated_with_key_id = ${id}`.execute(tx);
};

/**
 * The numbers of living keys that share the limits of `rootId`: `present` without the service account itself, and those
 * that a rotation `replaced`, with it.
 */
export const countLivingKeysOf = async (
  tx: Tx,
  rootId: string,
): Promise<{ present: number; replaced: number }> => {
  const { rows } = await sql<{ present: number; replaced: number }>`
    select count(*) filter (where replaced_by is null and coalesce(account_id, id) <> ${rootId}::uuid) as present,
      count(*) filter (where replaced_by is not null) as replaced
    from api_keys
    where (owner_user_id = ${rootId}::uuid or root_id = ${rootId}::uuid or coalesce(account_id, id) = ${rootId}::uuid)
      and (expires_at is null or expires_at > platform_now())`.execute(tx);
  return rows[0]!;
};
