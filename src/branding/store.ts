import { type Executor, sql, type Table, type Tx } from '../database/index.ts';

/** The fields that a client may set. `''` means not set. */
export interface BrandingFields {
  workspace_name: string;
  logo_data_url: string;
  logo_dark_data_url: string;
  primary_color: string;
}

export interface Branding extends BrandingFields {
  revision: number;
  /** Null until something is set for the first time. */
  updated_at: Date | null;
}

declare module '../database/database.ts' {
  interface Schema {
    branding: Table<Branding>;
  }
}

const columns = [
  'workspace_name',
  'logo_data_url',
  'logo_dark_data_url',
  'primary_color',
  'revision',
  'updated_at',
] as const;

export const findBranding = (executor: Executor): Promise<Branding> =>
  executor.selectFrom('branding').select(columns).executeTakeFirstOrThrow();

/** The branding, locked: no one else changes it until the transaction ends. */
export const lockBranding = (tx: Tx): Promise<Branding> =>
  tx.selectFrom('branding').select(columns).forUpdate().executeTakeFirstOrThrow();

/** Writes the fields of the locked row and raises its revision. */
export const updateBranding = (tx: Tx, fields: Partial<BrandingFields>): Promise<Branding> =>
  tx
    .updateTable('branding')
    .set({ ...fields, revision: sql<number>`revision + 1`, updated_at: sql<Date>`platform_now()` })
    .returning(columns)
    .executeTakeFirstOrThrow();
