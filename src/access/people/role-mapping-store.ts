import { z } from 'zod';
import { type Executor, type Page, selectPage, sql, type Tx } from '../../database/index.ts';
import { text } from '../../http/index.ts';
import { roles } from '../../lib/principal.ts';
import {
  column,
  type RowOf,
  required,
  resource,
  type TableOf,
  times,
  type ValuesOf,
  withDefault,
} from '../../resource/index.ts';
import { claimPath } from './claims.ts';

const claim = text(200, 1)
  .refine((value) => claimPath(value) !== null, 'is not a JSON Pointer: ~ must be followed by 0 or 1')
  .meta({
    openapi: { type: 'string', minLength: 1, maxLength: 200, examples: ['groups', '/realm_access/roles'] },
  })
  .describe(
    'The name of a top-level claim, taken literally, or a JSON Pointer (RFC 6901) if it begins with `/`.',
  );
const value = text(500, 1).describe(
  'Equal to one of the values of the claim, case included. For `email`: an address, or `@example.com` for a domain.',
);

export const roleMappings = resource(
  'role_mappings',
  {
    claim: required(claim).shownAs(z.string()),
    value: required(value).shownAs(z.string()),
    role: required(z.enum(roles)),
    priority: withDefault(z.int().min(0).max(1_000), 0).shownAs(
      z.int().describe('Of the mappings that match, the highest priority decides, then the highest role.'),
    ),
  },
  { id: column<string>(), ...times },
);
const { columns } = roleMappings;

/** A role mapping: a person with this value in this claim has this role. */
export type MappingFields = ValuesOf<typeof roleMappings>;
export type RoleMappingRow = RowOf<typeof roleMappings>;

declare module '../../database/database.ts' {
  interface Schema {
    role_mappings: TableOf<typeof roleMappings>;
  }
}

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
    .values({ id, ...roleMappings.write(fields) })
    .returning(columns)
    .executeTakeFirstOrThrow();

export const deleteRoleMappingRow = async (tx: Tx, id: string): Promise<void> => {
  await tx.deleteFrom('role_mappings').where('id', '=', id).execute();
};
