import { type Executor, type Json, json, sql, type Table, type Tx } from '../../database/index.ts';

export interface ConfigurationRow {
  id: string;
  provider: string;
  /** Sealed. */
  settings: string;
  llm_id: string | null;
  ocr: 'auto' | 'off';
  ocr_languages: string[];
  revision: number;
  updated_at: Date;
}

declare module '../../database/database.ts' {
  interface Schema {
    document_intelligence: Table<
      Omit<ConfigurationRow, 'ocr_languages'>,
      'id' | 'revision' | 'updated_at'
    > & {
      ocr_languages: Json<string[]>;
    };
  }
}

/** The one row there can be. */
export const configurationId = 'configuration';
const columns = [
  'id',
  'provider',
  'settings',
  'llm_id',
  'ocr',
  'ocr_languages',
  'revision',
  'updated_at',
] as const;

export const findConfiguration = (executor: Executor): Promise<ConfigurationRow | undefined> =>
  executor.selectFrom('document_intelligence').select(columns).executeTakeFirst();

/** Inserts the row, or writes the one there is, with a revision that was never used. Returns it as it is then. */
export const putConfiguration = (
  tx: Tx,
  { ocr_languages, ...fields }: Omit<ConfigurationRow, 'id' | 'revision' | 'updated_at'>,
): Promise<ConfigurationRow> => {
  const values = {
    ...fields,
    ocr_languages: json(ocr_languages),
    revision: sql<number>`nextval('document_intelligence_revisions')`,
    updated_at: sql<Date>`platform_now()`,
  };
  return tx
    .insertInto('document_intelligence')
    .values(values)
    .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
    .returning(columns)
    .executeTakeFirstOrThrow();
};

/** Returns whether there was one. */
export const deleteConfiguration = async (tx: Tx): Promise<boolean> => {
  const { numDeletedRows } = await tx.deleteFrom('document_intelligence').executeTakeFirst();
  return numDeletedRows > 0n;
};
