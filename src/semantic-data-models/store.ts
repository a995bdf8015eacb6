import {
  type Executor,
  type Json,
  json,
  type Page,
  selectPage,
  sql,
  type Table,
  type Tx,
} from '../database/index.ts';
import type { Issue } from './issues.ts';
import type { SemanticModel } from './ossie.ts';

/** A question with the query that a person checked. */
export interface VerifiedQuery {
  name: string;
  question: string;
  /** One of the two. */
  sql?: string;
  query?: Record<string, unknown>;
  use_as_onboarding_question: boolean;
  /** The id of the principal who stored it. */
  verified_by: string;
  /** RFC 3339. */
  verified_at: string;
}

export interface Validation {
  valid: boolean;
  /** The last check against the database (RFC 3339); null: none since the document changed. */
  checked_at: string | null;
  errors: Issue[];
  warnings: Issue[];
}

export interface SemanticDataModelRow {
  id: string;
  name: string;
  description: string | null;
  data_connection_id: string;
  semantic_model: SemanticModel;
  verified_queries: VerifiedQuery[];
  validation: Validation;
  created_by: string;
  revision: number;
  created_at: Date;
  updated_at: Date;
}

type JsonColumn = 'semantic_model' | 'verified_queries' | 'validation';

declare module '../database/database.ts' {
  interface Schema {
    semantic_data_models: Table<
      Omit<SemanticDataModelRow, JsonColumn>,
      'revision' | 'created_at' | 'updated_at'
    > & {
      semantic_model: Json<SemanticModel>;
      verified_queries: Json<VerifiedQuery[]>;
      validation: Json<Validation>;
    };
  }
}

const columns = [
  'id',
  'name',
  'description',
  'data_connection_id',
  'semantic_model',
  'verified_queries',
  'validation',
  'created_by',
  'revision',
  'created_at',
  'updated_at',
] as const;

export interface SemanticDataModelFilter extends Page {
  data_connection_id?: string | undefined;
  /** The beginning of the name, without case. */
  name?: string | undefined;
}

/** Newest first. */
export const listSemanticDataModels = (
  executor: Executor,
  { data_connection_id, name, ...page }: SemanticDataModelFilter,
): Promise<SemanticDataModelRow[]> => {
  let query = executor.selectFrom('semantic_data_models').select(columns);
  if (data_connection_id !== undefined) query = query.where('data_connection_id', '=', data_connection_id);
  if (name !== undefined) query = query.where(sql<boolean>`starts_with(lower(name), lower(${name}))`);
  return selectPage(query, page);
};

const byId = (executor: Executor, id: string) =>
  executor.selectFrom('semantic_data_models').select(columns).where('id', '=', id);

export const findSemanticDataModel = (
  executor: Executor,
  id: string,
): Promise<SemanticDataModelRow | undefined> => byId(executor, id).executeTakeFirst();

/** Those of the models that exist, by their names. */
export const findSemanticDataModels = async (
  executor: Executor,
  ids: readonly string[],
): Promise<SemanticDataModelRow[]> => {
  if (ids.length === 0) return [];
  return executor
    .selectFrom('semantic_data_models')
    .select(columns)
    .where('id', 'in', ids)
    .orderBy(sql`lower(name)`)
    .orderBy('id')
    .execute();
};

/** The row, locked until the transaction ends. Agents can still begin to use it. */
export const findLockedSemanticDataModel = (tx: Tx, id: string): Promise<SemanticDataModelRow | undefined> =>
  byId(tx, id).forNoKeyUpdate().executeTakeFirst();

/** Like `findLockedSemanticDataModel`, and no agent begins to use it. */
export const lockSemanticDataModelForDelete = (
  tx: Tx,
  id: string,
): Promise<SemanticDataModelRow | undefined> => byId(tx, id).forUpdate().executeTakeFirst();

/** Locks the models so that they are not deleted before the transaction ends. Returns the ids of those that exist. */
export const lockSemanticDataModelsForShare = async (
  tx: Tx,
  ids: readonly string[],
): Promise<Set<string>> => {
  if (ids.length === 0) return new Set();
  const rows = await tx
    .selectFrom('semantic_data_models')
    .select('id')
    .where('id', 'in', ids)
    .orderBy('id')
    .forKeyShare()
    .execute();
  return new Set(rows.map(({ id }) => id));
};

export const countSemanticDataModels = async (executor: Executor): Promise<number> => {
  const { count } = await executor
    .selectFrom('semantic_data_models')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
};

export type Fields = Pick<
  SemanticDataModelRow,
  'name' | 'description' | 'data_connection_id' | 'semantic_model' | 'verified_queries' | 'validation'
>;

const toRow = ({ semantic_model, verified_queries, validation, ...fields }: Fields) => ({
  ...fields,
  semantic_model: json(semantic_model),
  verified_queries: json(verified_queries),
  validation: json(validation),
});

export const insertSemanticDataModel = (
  tx: Tx,
  row: Fields & Pick<SemanticDataModelRow, 'id' | 'created_by'>,
): Promise<SemanticDataModelRow> =>
  tx
    .insertInto('semantic_data_models')
    .values({ id: row.id, created_by: row.created_by, ...toRow(row) })
    .returning(columns)
    .executeTakeFirstOrThrow();

/** Writes all fields of the locked row and raises its revision. */
export const updateSemanticDataModelRow = (
  tx: Tx,
  id: string,
  fields: Fields,
): Promise<SemanticDataModelRow> =>
  tx
    .updateTable('semantic_data_models')
    .set({
      ...toRow(fields),
      revision: sql<number>`revision + 1`,
      updated_at: sql<Date>`platform_now()`,
    })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow();

/** Stores what a validation found, unless the document changed in the meantime. It is no change of the resource. */
export const updateValidation = async (
  executor: Executor,
  { id, revision }: Pick<SemanticDataModelRow, 'id' | 'revision'>,
  validation: Validation,
): Promise<void> => {
  await executor
    .updateTable('semantic_data_models')
    .set({ validation: json(validation) })
    .where('id', '=', id)
    .where('revision', '=', revision)
    .execute();
};

export const deleteSemanticDataModelRow = async (tx: Tx, id: string): Promise<void> => {
  await tx.deleteFrom('semantic_data_models').where('id', '=', id).execute();
};

export const isGivenTo = async (executor: Executor, id: string, agentId: string): Promise<boolean> => {
  const row = await executor
    .selectFrom('agents')
    .select('id')
    .where('id', '=', agentId)
    .where('semantic_data_model_ids', '@>', sql<string[]>`array[${id}::uuid]`)
    .executeTakeFirst();
  return row !== undefined;
};
