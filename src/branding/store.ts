import type { Executor, Tx } from '../database/index.ts';
import { column, type RowOf, resource, type TableOf, type ValuesOf } from '../resource/index.ts';
import { fields } from './fields.ts';

export const branding = resource('branding', fields, {
  revision: column<number>(),
  /** Null until something is set for the first time. */
  updated_at: column<Date | null>(),
});
const { columns } = branding;

export type BrandingFields = ValuesOf<typeof branding>;
export type Branding = RowOf<typeof branding>;

declare module '../database/database.ts' {
  interface Schema {
    branding: TableOf<typeof branding>;
  }
}

export const findBranding = (executor: Executor): Promise<Branding> =>
  executor.selectFrom('branding').select(columns).executeTakeFirstOrThrow();

/** The branding, locked: no one else changes it until the transaction ends. */
export const lockBranding = (tx: Tx): Promise<Branding> =>
  tx.selectFrom('branding').select(columns).forUpdate().executeTakeFirstOrThrow();
