import { audit } from '../audit/index.ts';
import { databaseNow, type Executor, type Tx } from '../database/index.ts';
import { ApiError, notFound, unprocessable } from '../lib/errors.ts';
import { isId } from '../lib/ids.ts';
import type { Actor } from '../lib/principal.ts';
import { lockLlmForShare } from '../llm-configurations/index.ts';
import type { PriceValues } from './schemas.ts';
import { deletePriceRow, findLockedPrice, insertPrice, type Price, updatePriceEnd } from './store.ts';

/** Resolves to whether charges name a price. */
export type IsPriceUsed = (executor: Executor, id: string) => Promise<boolean>;

/** A new price; without a time it is valid from now on. */
export type NewPrice = Omit<PriceValues, 'valid_from'> & { valid_from?: string | undefined };

const wrongEnd = () => unprocessable([{ path: 'valid_to', message: 'must be after `valid_from`' }]);

/** Creates an own price. Throws 422 for an unknown LLM configuration, and for an end that is not after the beginning. */
export const createPrice = async (tx: Tx, actor: Actor, values: NewPrice): Promise<Price> => {
  const { llm_id, model, rates, above } = values;
  if (llm_id !== null && !(isId(llm_id) && (await lockLlmForShare(tx, llm_id)))) {
    throw unprocessable([{ path: 'llm_id', message: 'is not an LLM configuration' }], { llm_id });
  }
  const valid_from = new Date(values.valid_from ?? (await databaseNow(tx)));
  const valid_to = values.valid_to === null ? null : new Date(values.valid_to);
  if (valid_to !== null && valid_to <= valid_from) throw wrongEnd();
  const price = await insertPrice(tx, { llm_id, model, rates, above, valid_from, valid_to });
  await audit(tx, actor, 'price.create', price.id, { llm_id, model, rates, above, valid_from, valid_to });
  return price;
};

/** Returns the own price, locked. Throws 404 if there is none, and 412 for one of the catalogue. */
const lockOwnPrice = async (tx: Tx, id: string): Promise<Price> => {
  const price = await findLockedPrice(tx, id);
  if (!price) throw notFound('price');
  if (price.source === 'own') return price;
  const what = 'Prices of the catalogue cannot be changed or deleted.';
  throw new ApiError('precondition_failed', `${what} Create a price of your own: it comes before them.`);
};

/**
 * Ends an own price at `validTo`; null takes its end away, and undefined changes nothing. Throws 422 for an end that is not
 * after its beginning.
 */
export const endPrice = async (
  tx: Tx,
  actor: Actor,
  id: string,
  validTo: string | null | undefined,
): Promise<Price> => {
  const before = await lockOwnPrice(tx, id);
  if (validTo === undefined) return before;
  const valid_to = validTo === null ? null : new Date(validTo);
  if (valid_to !== null && valid_to <= before.valid_from) throw wrongEnd();
  if (valid_to?.getTime() === before.valid_to?.getTime()) return before;
  const price = await updatePriceEnd(tx, id, valid_to);
  await audit(tx, actor, 'price.update', id, { model: price.model, before: before.valid_to, valid_to });
  return price;
};

/** Deletes an own price. Throws 412 if charges name it. */
export const deletePrice = async (tx: Tx, actor: Actor, isUsed: IsPriceUsed, id: string): Promise<void> => {
  const { model, llm_id } = await lockOwnPrice(tx, id);
  if (await isUsed(tx, id)) {
    throw new ApiError('precondition_failed', 'Charges name this price. End it instead (`valid_to`).');
  }
  await deletePriceRow(tx, id);
  await audit(tx, actor, 'price.delete', id, { model, llm_id });
};

/** Deletes an own price. One that charges name is ended now, unless it has ended before. */
export const removePrice = async (tx: Tx, actor: Actor, isUsed: IsPriceUsed, id: string): Promise<void> => {
  const { valid_to } = await lockOwnPrice(tx, id);
  if (!(await isUsed(tx, id))) return deletePrice(tx, actor, isUsed, id);
  const now = new Date(await databaseNow(tx));
  if (valid_to === null || valid_to > now) await endPrice(tx, actor, id, now.toISOString());
};
