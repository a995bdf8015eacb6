import { type Database, databaseNow } from '../database/index.ts';
import { finder, jsonRoute, listPage, type Route } from '../http/index.ts';
import { ApiError, unprocessable } from '../lib/errors.ts';
import { isId } from '../lib/ids.ts';
import type { LlmConfigurations } from '../llm-configurations/index.ts';
import { catalogue } from './catalogue.ts';
import type { PriceFor } from './price-for.ts';
import { createPrice, deletePrice, endPrice, type IsPriceUsed } from './prices.ts';
import {
  createBody,
  listQuery,
  pricePage,
  publicPrice,
  resolvedPrice,
  resolveQuery,
  updateBody,
} from './schemas.ts';
import { findPrice, listPrices } from './store.ts';

interface Parts {
  db: Database;
  resolveLlm: LlmConfigurations['resolve'];
  isUsed: IsPriceUsed;
  priceFor: PriceFor;
  /** Resolves when this replica uses what was written. */
  refresh(): Promise<void>;
}

const reads = { role: 'builder', scope: 'costs:read', base: 'v2' } as const;
const writes = { role: 'admin', scope: 'costs', base: 'v2' } as const;

export const priceRoutes = ({ db, resolveLlm, isUsed, priceFor, refresh }: Parts): Route[] => {
  // A deleted price is shown as long as charges name it.
  const find = finder(db, 'price', 'price_id', async (executor, id) => {
    const price = await findPrice(executor, id);
    return price?.deleted_at && !(await isUsed(executor, id)) ? undefined : price;
  });
  const llmOf = async (id: string) => {
    const unknown = () =>
      unprocessable([{ path: 'llm_id', message: 'is not an LLM configuration' }], { llm_id: id });
    if (!isId(id)) throw unknown();
    return resolveLlm(id).catch((error: unknown) => {
      throw error instanceof ApiError && error.code === 'not_found' ? unknown() : error;
    });
  };

  return [
    jsonRoute({
      ...reads,
      id: 'listPrices',
      request: 'GET /prices',
      summary: 'List prices',
      description: 'Own ones, and those of the catalogue that were used.',
      query: listQuery,
      response: pricePage,
      handler: listPage(db, listPrices),
    }),
    jsonRoute({
      ...writes,
      id: 'createPrice',
      request: 'POST /prices',
      summary: 'Create a price',
      description: 'Own prices come before those of the catalogue. What was charged does not change.',
      body: createBody,
      response: publicPrice,
      idempotent: true,
      handler: async ({ body, transaction, actor }) => {
        const price = await transaction((tx) => createPrice(tx, actor, body));
        await refresh();
        return price;
      },
    }),
    jsonRoute({
      ...reads,
      id: 'resolvePrice',
      request: 'GET /prices/resolve',
      summary: 'Find the price of a call',
      description: 'The price that a call of the configuration has if its reply names this model.',
      otherStatuses: [400],
      query: resolveQuery,
      response: resolvedPrice,
      handler: async ({ query: { llm_id, model, at } }) => {
        const llm = await llmOf(llm_id);
        const match = await priceFor({
          llm,
          reported: model ?? null,
          requested: llm.model,
          at: new Date(at ?? (await db.run(databaseNow))),
        });
        return { ...match, catalogue };
      },
    }),
    jsonRoute({
      ...reads,
      id: 'getPrice',
      request: 'GET /prices/{price_id}',
      summary: 'Get a price',
      find,
      response: publicPrice,
      handler: async ({ found }) => found,
    }),
    jsonRoute({
      ...writes,
      id: 'updatePrice',
      request: 'PATCH /prices/{price_id}',
      summary: 'End a price',
      description: 'Only `valid_to` changes. Returns 412 for a price of the catalogue.',
      otherStatuses: [412],
      find,
      body: updateBody,
      response: publicPrice,
      handler: async ({ found, body: { valid_to }, transaction, actor }) => {
        const price = await transaction((tx) => endPrice(tx, actor, found.id, valid_to));
        await refresh();
        return price;
      },
    }),
    jsonRoute({
      ...writes,
      id: 'deletePrice',
      request: 'DELETE /prices/{price_id}',
      summary: 'Delete a price',
      description: 'Returns 412 for a price of the catalogue, and for one that charges name: end that one.',
      otherStatuses: [412],
      find,
      handler: async ({ found, transaction, actor }) => {
        await transaction((tx) => deletePrice(tx, actor, isUsed, found.id));
        await refresh();
      },
    }),
  ];
};
