import { type Executor, type Page, selectPage, sql, type Table, type Tx } from '../../database/index.ts';
import type { MappingFields } from './role-rules.ts';

export interface RoleMappingRow extends MappingFields {
  id: string;
  created_at: Date;
  updated_at: Date;
}

declare module '../../database/database.ts' {
  interface Schema {
    role_mappings: Table<RoleMappingRow, 'created_at' | 'updated_at'>;
  }
}

const columns = ['id', 'claim', 'value', 'role', 'priority', 'created_at', 'updated_at'] as const;

/** Newest first. */
export const listRoleMappings = (executor: Executor, page: Page): Promise<RoleMappingRow[]> =>
  selectPage(executor.selectFrom('role_mappings').select(columns), page);

/** All mappings, the oldest first. */
export const listAllRoleMappings = (executor: Executor): Promise<RoleMappingRow[]> =>
  executor.selectFrom('role_mappings').select(columns).orderBy('id').execute();

export const findRoleMapping = (executor: Executor, id: string): Promise<RoleMappingRow | undefined> =>
  executor.selectFrom('role_mappings').select(columns).where('id', '=', id).executeTakeFirst();

/** The number of mappings, and the id of the one with this claim and value. */
export const findPair = async (
  tx: Tx,
  { claim, value }: Pick<MappingFields, 'claim' | 'value'>,
): Promise<{ count: number; id: string | null }> => {
  const { rows } = await sql<{ count: number; id: string | null }>`select count(*) as count,
      (array_agg(id) filter (where claim = ${claim} and value = ${value}))[1] as id from role_mappings`.execute(
    tx,
  );
  return rows[0]!;
};

export const insertRoleMapping = (tx: Tx, id: string, fields: MappingFields): Promise<RoleMappingRow> =>
  tx
    .insertInto('role_mappings')
    .values({ id, ...fields })
    .returning(columns)
    .executeTakeFirstOrThrow();

export const updateRoleMappingRow = (tx: Tx, id: string, fields: MappingFields): Promise<RoleMappingRow> =>
  tx
    .updateTable('role_mappings')
    .set({ ...fields, updated_at: sql<Date>`platform_now()` })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow();

export const deleteRoleMappingRow = async (tx: Tx, id: string): Promise<void> => {
  await tx.deleteFrom('role_mappings').where('id', '=', id).execute();
};
