import { type Executor, json, type Page, selectPage, sql, type Table, type Tx } from '../database/index.ts';
import { text } from '../http/index.ts';
import {
  column,
  generated,
  type RowOf,
  required,
  resource,
  stamps,
  type TableOf,
} from '../resource/index.ts';
import type { LlmKind } from './kinds.ts';

export const llms = resource(
  'llm_configurations',
  {
    name: required(text(200, 1)),
    model: required(text(500, 1).describe('The name of the model, as its endpoint knows it.')),
  },
  {
    id: column<string>(),
    kind: column<LlmKind>(),
    /**
     * LlmSettings, sealed. Null in a row that the release before wrote last: its settings are in the next three columns.
     */
    settings: column<string | null>(),
    base_url: column<string | null>(),
    /** Sealed. */
    api_key: column<string | null>(),
    /** A sealed JSON object. */
    headers: column<string | null>(),
    /** The last time its test passed with its present settings. */
    test_passed_at: generated<Date | null>(),
    ...stamps,
  },
);
const { columns } = llms;

export type LlmRow = RowOf<typeof llms>;

declare module '../database/database.ts' {
  interface Schema {
    llm_configurations: TableOf<typeof llms>;
    llm_defaults: Table<{ only_row: boolean; llm_id: string }, 'only_row'>;
  }
}

/** Newest first; with `q` those whose name or model contains it. */
export const listLlms = (executor: Executor, page: Page, q?: string): Promise<LlmRow[]> => {
  const all = executor.selectFrom('llm_configurations').select(columns);
  const found = sql<boolean>`strpos(lower(name || chr(10) || model), lower(${q})) > 0`;
  return selectPage(q === undefined ? all : all.where(found), page);
};

const byId = (executor: Executor, id: string) =>
  executor.selectFrom('llm_configurations').select(columns).where('id', '=', id);

export const findLlm = (executor: Executor, id: string): Promise<LlmRow | undefined> =>
  byId(executor, id).executeTakeFirst();

/** The row, locked: no one else changes, deletes or locks it until the transaction ends. */
export const findLockedLlm = (tx: Tx, id: string): Promise<LlmRow | undefined> =>
  byId(tx, id).forUpdate().executeTakeFirst();

/** Locks the row so that it is not deleted before the transaction ends. Returns false if there is none. */
export const lockLlmForShare = async (tx: Tx, id: string): Promise<boolean> =>
  (await tx
    .selectFrom('llm_configurations')
    .select('id')
    .where('id', '=', id)
    .forKeyShare()
    .executeTakeFirst()) !== undefined;

export const findDefaultLlm = (executor: Executor): Promise<LlmRow> =>
  executor
    .selectFrom('llm_configurations')
    .select(columns)
    .where('id', '=', (eb) => eb.selectFrom('llm_defaults').select('llm_id'))
    .executeTakeFirstOrThrow();

/** Notes that the test of the configuration passed, unless it was changed in the meantime. */
export const updateTestPassed = async (tx: Tx, { id, revision }: LlmRow): Promise<void> => {
  await tx
    .updateTable('llm_configurations')
    .set({ test_passed_at: sql<Date>`platform_now()` })
    .where('id', '=', id)
    .where('revision', '=', revision)
    .execute();
};

type NewRow = Pick<
  LlmRow,
  'id' | 'kind' | 'name' | 'model' | 'settings' | 'base_url' | 'api_key' | 'headers'
>;

export const insertLlm = (tx: Tx, row: NewRow): Promise<LlmRow> =>
  tx.insertInto('llm_configurations').values(row).returning(columns).executeTakeFirstOrThrow();

/** A use that keeps a configuration from being deleted. */
export type LlmUse = 'default' | 'documents' | 'agents' | 'budgets';

/** The id of a budget that sends calls to the configuration, which is locked; undefined if there is none. */
export const findBudgetIdOf = async (tx: Tx, id: string): Promise<string | undefined> => {
  const { rows } = await sql<{ id: string }>`select id from budgets where llm_id = ${id} limit 1`.execute(tx);
  return rows[0]?.id;
};

/**
 * Deletes the row, which is locked. Returns what uses it if it cannot be deleted: no agent can begin to use it in the
 * meantime, because that locks the row for share. The transaction may have failed in that case, so throw after it.
 */
export const deleteLlmRow = async (tx: Tx, id: string): Promise<LlmUse | null> => {
  // Lists and stored versions cannot have a foreign key; the default and `llm_id` have one.
  const { rows } = await sql`select 1 from agents a where ${id}::uuid = any(a.fallback_llm_ids) or exists (
      select from agent_other_contents o where o.agent_id = a.id
        and (o.content ->> 'llm_id' = ${id} or o.content -> 'fallback_llm_ids' @> ${json([id])}::jsonb)
    ) limit 1`.execute(tx);
  if (rows.length > 0) return 'agents';
  try {
    await tx.deleteFrom('llm_configurations').where('id', '=', id).execute();
    return null;
  } catch (error) {
    const { code, constraint } = error as { code?: string; constraint?: string };
    if (code !== '23503') throw error;
    if (constraint === 'document_intelligence_llm_id_fkey') return 'documents';
    return constraint === 'llm_defaults_llm_id_fkey' ? 'default' : 'agents';
  }
};

/** Makes `id`, which is locked for share, the default. Returns the id of the default before. */
export const updateDefaultLlmRow = async (tx: Tx, id: string): Promise<string> => {
  const before = await tx.selectFrom('llm_defaults').select('llm_id').forUpdate().executeTakeFirstOrThrow();
  await tx.updateTable('llm_defaults').set({ llm_id: id }).execute();
  return before.llm_id;
};
