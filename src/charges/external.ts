import { z } from 'zod';
import { findPrincipalKind } from '../access/index.ts';
import type { Budgets } from '../budgets/index.ts';
import type { Database } from '../database/index.ts';
import { id, optional, text } from '../http/index.ts';
import { ApiError, unprocessable } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { buckets, noTokens, type Tokens, totalTokens } from '../lib/tokens.ts';
import type { Usage } from '../lib/usage.ts';
import type { ResolvedLlm } from '../llm-configurations/index.ts';
import { amountOf, mostNanoUsd, type Prices } from '../prices/index.ts';
import type { Charge, NewCharge } from './charge.ts';

/** Charges of programs that call models themselves. */

const count = optional(z.int().min(0).max(1_000_000_000_000), 0);

export const externalCharge = z
  .object({
    id: text(200, 1).describe('The same id for one Work Item again is ignored.'),
    model: text(500, 1),
    llm_id: optional(id, null).describe('The LLM configuration whose prices count; null: prices of all.'),
    ...(Object.fromEntries(buckets.map((name) => [name, count])) as Record<keyof Tokens, typeof count>),
    amount_nano_usd: optional(z.int().min(0).max(mostNanoUsd), null).describe(
      'What it cost, in nano-USD, taken as it is; null: by the price of the model.',
    ),
  })
  .meta({ id: 'ExternalCharge' });

export type ExternalCharge = z.output<typeof externalCharge>;

/** The Work Item that charges are for. */
export interface ChargedItem {
  id: string;
  agent_id: string;
  agent_version: number | null;
  schedule_id: string | null;
  trigger_id: string | null;
  created_by: string;
}

interface ExternalParts {
  db: Database;
  onCharge(charge: Charge): void;
  prices: Pick<Prices, 'priceFor'>;
  budgets: Pick<Budgets, 'count'>;
  resolveLlm(id: string): Promise<ResolvedLlm>;
}

/** The name of a model that was not reported. */
const unnamed = 'unknown';

/** Usage that came without charges, as one charge without a price. */
const ofUsage = (usage: Usage): ExternalCharge & { isUsage: true } => ({
  ...noTokens,
  id: '',
  model: unnamed,
  llm_id: null,
  input: Math.max(0, usage.input_tokens - usage.cached_input_tokens),
  cache_read: usage.cached_input_tokens,
  output: Math.max(0, usage.output_tokens - usage.reasoning_tokens),
  reasoning: usage.reasoning_tokens,
  amount_nano_usd: null,
  isUsage: true,
});

/** Makes the charges that an external worker reports. They are written in the transaction of the report. */
export const createExternalCharges =
  ({ db, onCharge, prices, budgets, resolveLlm }: ExternalParts) =>
  async (
    item: ChargedItem,
    given: { charges: readonly ExternalCharge[]; usage: Usage | null },
  ): Promise<NewCharge[]> => {
    const reported: (ExternalCharge & { isUsage?: true })[] = [
      ...given.charges,
      ...(given.usage ? [ofUsage(given.usage)] : []),
    ];
    if (reported.length === 0) return [];
    const kind = await db.run((executor) => findPrincipalKind(executor, item.created_by));
    const at = new Date();
    const priceOf = async (
      { model, llm_id, amount_nano_usd, isUsage, ...tokens }: (typeof reported)[number],
      i: number,
    ): Promise<Pick<Charge, 'status' | 'price_id' | 'amount_nano_usd'>> => {
      const llm =
        llm_id === null
          ? null
          : await resolveLlm(llm_id).catch((error: unknown) => {
              if (!(error instanceof ApiError) || error.code !== 'not_found') throw error;
              throw unprocessable([{ path: `charges.${i}.llm_id`, message: 'is not an LLM configuration' }]);
            });
      if (amount_nano_usd !== null) return { status: 'priced', price_id: null, amount_nano_usd };
      const { price } = isUsage
        ? { price: null }
        : await prices.priceFor({ llm, reported: model, requested: model, at });
      if (price === null) return { status: 'unknown_price', price_id: null, amount_nano_usd: null };
      return { status: 'priced', price_id: price.id, amount_nano_usd: amountOf(tokens, price) };
    };
    const made: NewCharge[] = [];
    for (const [i, one] of reported.entries()) {
      const price = await priceOf(one, i);
      const counted = await budgets.count({
        agentId: item.agent_id,
        scheduleId: item.schedule_id,
        triggerId: item.trigger_id,
        personId: kind === 'person' ? item.created_by : null,
        apiKeyId: kind === 'service_account' ? item.created_by : null,
        llmId: one.llm_id,
      });
      const tokens = Object.fromEntries(buckets.map((name) => [name, one[name]])) as unknown as Tokens;
      const charge: Charge = {
        ...tokens,
        ...price,
        id: newId(),
        started_at: new Date(counted.startedAt),
        duration_ms: 0,
        purpose: 'external',
        unreconciled: false,
        late: false,
        agent_id: item.agent_id,
        agent_version: item.agent_version,
        work_item_id: item.id,
        run_id: null,
        experiment_id: null,
        schedule_id: item.schedule_id,
        trigger_id: item.trigger_id,
        principal_kind: kind,
        principal_id: item.created_by,
        llm_id: one.llm_id,
        requested_model: one.model,
        model: one.isUsage ? null : one.model,
        assumed_nano_usd: null,
        trace_id: null,
        span_id: null,
        external_id: one.isUsage ? null : one.id,
      };
      made.push({
        charge,
        settlements: counted.settlement({
          amountNanoUsd: price.amount_nano_usd,
          assumedNanoUsd: null,
          tokens: totalTokens(tokens),
        }),
        settled: () => {
          onCharge(charge);
          counted.settled();
        },
      });
    }
    return made;
  };
