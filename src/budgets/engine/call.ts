import type { CallSubjects } from './copy.ts';
import type { CountedBudget } from './store.ts';

/** The most that one model call can use, by the model that it goes to. */
export interface Bound {
  /** 0 if the price is not known. */
  nanoUsd: number;
  tokens: number;
  priceUnknown: boolean;
  /** The name of the model, for the message if it has no price. */
  model: string;
}

/** A model call before it is made. */
export interface Call {
  subjects: CallSubjects;
  /** Called at most once. Not called if no budget counts the call. */
  bound: () => Bound | Promise<Bound>;
  /** Ends the wait for room. */
  signal: AbortSignal;
}

/** A call whose bound is known. */
export interface BoundCall extends Omit<Call, 'bound'> {
  bound: Bound;
}

export const noBound: Bound = { nanoUsd: 0, tokens: 0, priceUnknown: false, model: '' };

/** What a call reserves of a budget, in its unit. A disabled budget limits nothing. */
export const amountOf = (budget: CountedBudget, bound: Bound): number => {
  if (!budget.enabled) return 0;
  return budget.unit === 'tokens' ? bound.tokens : bound.nanoUsd;
};
