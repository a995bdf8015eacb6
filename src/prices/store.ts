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
import { isId, newId } from '../lib/ids.ts';
import type { Above, Priced, Rates } from './rates.ts';

interface PriceColumns {
  id: string;
  source: 'own' | 'catalogue';
  /** Null: all configurations. */
  llm_id: string | null;
  /** A name, in which `*` of an own price stands for any text. */
  model: string;
  rates: Json<Rates>;
  above: Json<Above | null>;
  valid_from: Date;
  valid_to: Date | null;
  created_at: Date;
}

declare module '../database/database.ts' {
  interface Schema {
    prices: Table<
      PriceColumns & { deleted_at: Date | null },
      'llm_id' | 'valid_from' | 'valid_to' | 'created_at' | 'deleted_at'
    >;
    price_revision: Table<{ only_row: boolean; revision: number }, 'only_row'>;
  }
}

/** A row. Its rates never change. */
export interface Price extends Priced {
  id: string;
  source: 'own' | 'catalogue';
  llm_id: string | null;
  model: string;
  valid_from: Date;
  valid_to: Date | null;
  created_at: Date;
}

const columns = [
  'id',
  'source',
  'llm_id',
  'model',
  'rates',
  'above',
  'valid_from',
  'valid_to',
  'created_at',
] as const;

/**
 * Resolves to the company's own prices and their revision; to null if they still have the revision `known`. One statement,
 * so that both are of the same moment.
 */
export const readOwnPrices = async (
  executor: Executor,
  known: number,
): Promise<{ revision: number; prices: Price[] } | null> => {
  const rows = await executor
    .selectFrom('price_revision')
    .leftJoin('prices', (join) =>
      join
        .on('prices.source', '=', 'own')
        .on('prices.deleted_at', 'is', null)
        .on('price_revision.revision', '<>', known),
    )
    .select('price_revision.revision')
    .select(columns.map((column) => `prices.${column}` as const))
    .execute();
  const revision = rows[0]!.revision;
  if (revision === known) return null;
  const prices = rows.flatMap(({ revision: _, ...row }) => (row.id === null ? [] : [row as Price]));
  return { revision, prices };
};

/** Resolves to the row of a price of the catalogue, which it inserts if there is none. */
export const keepCataloguePrice = async (
  tx: Tx,
  { model, rates, above }: Pick<Price, 'model' | 'rates' | 'above'>,
): Promise<Price> => {
  const row = { model, rates: json(rates), above: above && json(above) };
  await tx
    .insertInto('prices')
    .values({ ...row, id: newId(), source: 'catalogue' })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  // Another replica may have inserted it in the meantime: a statement of its own sees that row.
  return tx
    .selectFrom('prices')
    .select(columns)
    .where('source', '=', 'catalogue')
    .where('model', '=', model)
    .where('rates', '=', sql<Rates>`${row.rates}::jsonb`)
    .where('above', 'is not distinct from', sql<Above | null>`${row.above}::jsonb`)
    .executeTakeFirstOrThrow();
};

/** What of a list is shown. Of what is left out all is. */
interface PriceFilter {
  source?: Price['source'] | undefined;
  llm_id?: string | undefined;
  model?: string | undefined;
  /** In milliseconds since 1970. */
  at?: number | undefined;
}

/** Newest first, without deleted ones. */
export const listPrices = async (
  executor: Executor,
  { source, llm_id, model, at, ...page }: Page & PriceFilter,
): Promise<Price[]> => {
  if (llm_id !== undefined && !isId(llm_id)) return [];
  let query = executor.selectFrom('prices').select(columns).where('deleted_at', 'is', null);
  if (source !== undefined) query = query.where('source', '=', source);
  if (llm_id !== undefined) query = query.where('llm_id', '=', llm_id);
  if (model !== undefined) query = query.where(sql<boolean>`lower(model) = lower(${model})`);
  if (at !== undefined) {
    const time = new Date(at);
    query = query
      .where('valid_from', '<=', time)
      .where((eb) => eb.or([eb('valid_to', 'is', null), eb('valid_to', '>', time)]));
  }
  return selectPage(query, page);
};

/** The price, a deleted one too. */
export const findPrice = async (
  executor: Executor,
  id: string,
): Promise<(Price & { deleted_at: Date | null }) | undefined> =>
  executor
    .selectFrom('prices')
    .select([...columns, 'deleted_at'])
    .where('id', '=', id)
    .executeTakeFirst();

/** The price, locked until the transaction ends; undefined for a deleted one. */
export const findLockedPrice = (tx: Tx, id: string): Promise<Price | undefined> =>
  tx
    .selectFrom('prices')
    .select(columns)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .forUpdate()
    .executeTakeFirst();

export const insertPrice = (
  tx: Tx,
  { rates, above, ...row }: Pick<Price, 'llm_id' | 'model' | 'rates' | 'above' | 'valid_from' | 'valid_to'>,
): Promise<Price> =>
  tx
    .insertInto('prices')
    .values({ id: newId(), source: 'own', ...row, rates: json(rates), above: above && json(above) })
    .returning(columns)
    .executeTakeFirstOrThrow();

export const updatePriceEnd = (tx: Tx, id: string, valid_to: Date | null): Promise<Price> =>
  tx
    .updateTable('prices')
    .set({ valid_to })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow();

/** Deletes the price. Its row stays, for a charge that was under way. */
export const deletePriceRow = async (tx: Tx, id: string): Promise<void> => {
  await tx
    .updateTable('prices')
    .set({ deleted_at: sql<Date>`platform_now()` })
    .where('id', '=', id)
    .execute();
};

export const listOwnPrices = (executor: Executor): Promise<Price[]> =>
  executor
    .selectFrom('prices')
    .select(columns)
    .where('source', '=', 'own')
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .execute();
