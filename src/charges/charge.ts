import { z } from 'zod';
import type { Settlement } from '../budgets/index.ts';
import { type RawBuilder, sql } from '../database/index.ts';
import type { Tokens } from '../lib/tokens.ts';
import { mostNanoUsd } from '../prices/index.ts';

/** The reasons for calls of models. */
export const purposes = ['run', 'trial', 'judge', 'question', 'extraction', 'test', 'external'] as const;
export type Purpose = (typeof purposes)[number];

export const chargeStatuses = ['priced', 'unknown_price', 'unknown_usage'] as const;

/** What a call belongs to. */
export interface ChargedTo {
  purpose: Purpose;
  agent_id: string | null;
  agent_version: number | null;
  work_item_id: string | null;
  /** The run of a conversation. */
  run_id: string | null;
  experiment_id: string | null;
  schedule_id: string | null;
  trigger_id: string | null;
  principal_kind: 'person' | 'service_account' | 'system' | 'unknown';
  principal_id: string;
}

/** A charge as it is stored. */
export interface Charge extends ChargedTo, Tokens {
  id: string;
  started_at: Date;
  duration_ms: number;
  status: (typeof chargeStatuses)[number];
  unreconciled: boolean;
  late: boolean;
  llm_id: string | null;
  requested_model: string;
  model: string | null;
  price_id: string | null;
  amount_nano_usd: number | null;
  assumed_nano_usd: number | null;
  trace_id: string | null;
  span_id: string | null;
  external_id: string | null;
}

/** A charge to be written, and what it adds to its budgets. */
export interface NewCharge {
  charge: Charge;
  settlements: readonly Settlement[];
  /** Called when it is committed. */
  settled(): void;
}

/**
 * A sum of amounts or tokens in SQL, at most 9e15: a worker or an endpoint may report anything, and a larger number is
 * not exact in JSON.
 */
export const cappedSum = (sum: RawBuilder<unknown>): RawBuilder<number> =>
  sql`least(coalesce(${sum}, 0), ${sql.lit(mostNanoUsd)})::bigint`;

/** Sums over charges: what they cost, and how many of them have no amount. */
export interface Cost {
  cost_nano_usd: number;
  unknown_calls: number;
}

/** The same in responses. */
export const costFields = {
  cost_nano_usd: z
    .int()
    .describe(
      'Cost of its calls of models so far, in nano-USD (1 USD = 1,000,000,000); without calls whose amount is unknown.',
    ),
  unknown_calls: z.int().describe('Calls of models whose price or usage is not known.'),
};

export const costOf = (charges: readonly NewCharge[]): Cost => ({
  cost_nano_usd: charges.reduce(
    (sum, { charge }) => Math.min(mostNanoUsd, sum + (charge.amount_nano_usd ?? 0)),
    0,
  ),
  unknown_calls: charges.filter(({ charge }) => charge.amount_nano_usd === null).length,
});
