import { type Executor, sql, type Tx } from '../database/index.ts';

/** The kinds that are carried out; the API names the others as known but not supported. */
export const supportedKinds = ['openai_compatible', 'mock'] as const;
export type LlmKind = (typeof supportedKinds)[number];

export interface LlmRow {
  id: string;
  name: string;
  kind: LlmKind;
  model: string;
  base_url: string | null;
  /** Sealed. */
  api_key: string | null;
  /** Sealed JSON object. */
  headers: string | null;
  created_at: Date;
  updated_at: Date;
}

declare module '../database/database.ts' {
  interface Schema {
    llm_configurations: LlmRow;
    llm_defaults: { only_row: boolean; llm_id: string };
  }
}

const columns = [
  'c.id',
  'c.name',
  'c.kind',
  'c.model',
  'c.base_url',
  'c.api_key',
  'c.headers',
  'c.created_at',
  'c.updated_at',
] as const;

/** Newest first, from below the id `before`, one more than `limit`. */
export const listLlms = (
  executor: Executor,
  page: { limit: number; before: string | null },
): Promise<LlmRow[]> => {
  let query = executor
    .selectFrom('llm_configurations as c')
    .select(columns)
    .orderBy('c.id', 'desc')
    .limit(page.limit + 1);
  if (page.before) query = query.where('c.id', '<', page.before);
  return query.execute();
};

export const findLlm = (executor: Executor, id: string): Promise<LlmRow | undefined> =>
  executor.selectFrom('llm_configurations as c').select(columns).where('c.id', '=', id).executeTakeFirst();

/** Whether there is such a row; if so it is not deleted before `tx` ends. */
export const lockLlmForShare = async (tx: Tx, id: string): Promise<boolean> =>
  (await tx
    .selectFrom('llm_configurations')
    .select('id')
    .where('id', '=', id)
    .forKeyShare()
    .executeTakeFirst()) !== undefined;

export const findDefaultLlm = (executor: Executor): Promise<LlmRow> =>
  executor
    .selectFrom('llm_defaults as d')
    .innerJoin('llm_configurations as c', 'c.id', 'd.llm_id')
    .select(columns)
    .executeTakeFirstOrThrow();

export const insertLlm = async (tx: Tx, row: Omit<LlmRow, 'created_at' | 'updated_at'>): Promise<void> => {
  await tx
    .insertInto('llm_configurations')
    .values(row as never)
    .execute();
};

export const updateLlm = async (
  tx: Tx,
  id: string,
  changes: Partial<Pick<LlmRow, 'name' | 'model' | 'base_url' | 'api_key' | 'headers'>>,
): Promise<void> => {
  await tx
    .updateTable('llm_configurations')
    .set({ ...changes, updated_at: sql<Date>`platform_now()` })
    .where('id', '=', id)
    .execute();
};

/** What keeps a configuration from being deleted: the constraint that the database refused by. */
export type LlmUse = 'default' | 'agents';

/**
 * Delete the row. Answers null when it is gone or was not there (then `deleted` is false), else who uses it:
 * the foreign keys decide, so that no agent can take it up meanwhile. The transaction is lost in that case,
 * so call it last and throw on a use.
 */
export const deleteLlm = async (tx: Tx, id: string): Promise<{ deleted: boolean; use: LlmUse | null }> => {
  try {
    const { numDeletedRows } = await tx
      .deleteFrom('llm_configurations')
      .where('id', '=', id)
      .executeTakeFirst();
    return { deleted: numDeletedRows > 0n, use: null };
  } catch (error) {
    const { code, constraint } = error as { code?: string; constraint?: string };
    if (code !== '23503') throw error;
    return { deleted: false, use: constraint === 'llm_defaults_llm_id_fkey' ? 'default' : 'agents' };
  }
};

/** Make `id`, which the caller keeps, the default. Answers the id of the one before. */
export const setDefaultLlm = async (tx: Tx, id: string): Promise<string> => {
  const before = await tx.selectFrom('llm_defaults').select('llm_id').forUpdate().executeTakeFirstOrThrow();
  await tx.updateTable('llm_defaults').set({ llm_id: id }).execute();
  return before.llm_id;
};
