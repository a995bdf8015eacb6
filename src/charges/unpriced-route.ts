import { z } from 'zod';
import type { Database } from '../database/index.ts';
import { id, jsonRoute, type Route, timestamp } from '../http/index.ts';
import type { Clock } from '../lib/clock.ts';
import { ApiError } from '../lib/errors.ts';
import type { LlmConfigurations } from '../llm-configurations/index.ts';
import type { Prices } from '../prices/index.ts';
import { listUnpricedModels, type UnpricedModel } from './unpriced-store.ts';

const unpricedModel = z
  .object({
    llm_id: id.nullable().describe('Null: calls of external workers that name no LLM configuration.'),
    requested_model: z.string(),
    model: z.string().nullable().describe('As the endpoint reported it.'),
    calls: z.int().describe('Of the newest 20,000 calls without a price.'),
    last_at: timestamp,
  })
  .meta({ id: 'UnpricedModel' });

interface Parts {
  db: Database;
  clock: Clock;
  prices: Pick<Prices, 'priceFor'>;
  resolveLlm: LlmConfigurations['resolve'];
}

/** For the application: models that still have no price. */
export const unpricedRoute = ({ db, clock, prices, resolveLlm }: Parts): Route => {
  /** Null for a configuration that was deleted. */
  const llmOf = (llmId: string) =>
    resolveLlm(llmId).catch((error: unknown) => {
      if (error instanceof ApiError && error.code === 'not_found') return null;
      throw error;
    });
  const isUnpriced = async ({ llm_id, model, requested_model }: UnpricedModel): Promise<boolean> => {
    const llm = llm_id === null ? null : await llmOf(llm_id);
    const at = new Date(clock.now());
    const { price } = await prices.priceFor({ llm, reported: model, requested: requested_model, at });
    return price === null;
  };
  return jsonRoute({
    id: 'listUnpricedModels',
    role: 'builder',
    scope: 'costs:read',
    base: 'app',
    request: 'GET /prices/missing',
    summary: 'List models without a price',
    description: 'Models of calls of the last 30 days that had no price, and would have none now.',
    response: z.object({ data: z.array(unpricedModel) }).meta({ id: 'UnpricedModels' }),
    handler: async () => {
      const all = await db.run(listUnpricedModels);
      const data: UnpricedModel[] = [];
      for (const one of all) if (await isUnpriced(one)) data.push(one);
      return { data };
    },
  });
};
