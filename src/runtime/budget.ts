import type { RunUsage } from '../lib/usage.ts';

/** The limits of an agent on tokens; null: none. */
export interface TokenLimits {
  /** Input and output of all attempts since the create, continue or restart. */
  max_tokens: number | null;
  /** Output of one reply. */
  max_output_tokens: number | null;
}

/** With fewer tokens left, a reply would say nothing. */
const fewestOutputTokens = 16;

export interface Allowance {
  /** The most tokens that the next reply may have; null: no limit. */
  maxOutputTokens: number | null;
  /** True if the budget limits it more than the agent does: a reply that is cut off has used the budget up. */
  byBudget: boolean;
}

/** Returns the allowance of the next model call; null if too little of the budget is left. */
export const allowanceOf = (
  { max_tokens, max_output_tokens }: TokenLimits,
  usage: RunUsage,
  tokensBefore: number,
): Allowance | null => {
  if (max_tokens === null) return { maxOutputTokens: max_output_tokens, byBudget: false };
  const left = max_tokens - (usage.input_tokens + usage.output_tokens - tokensBefore);
  if (left < fewestOutputTokens) return null;
  const byBudget = max_output_tokens === null || left <= max_output_tokens;
  return { maxOutputTokens: byBudget ? left : max_output_tokens, byBudget };
};
