import { aggregates } from './aggregates.ts';
import { conditionFunctions } from './conditions.ts';
import { dateFunctions } from './dates.ts';
import { numberFunctions } from './numbers.ts';
import type { Scalar } from './spec.ts';
import { textFunctions } from './text.ts';

/** All functions of one row, by their own names; `names.ts` has what users may call them. */
export const scalars: Record<string, Scalar> = {
  ...textFunctions,
  ...numberFunctions,
  ...conditionFunctions,
  ...dateFunctions,
};

export const scalarOf = (name: string): Scalar | null =>
  Object.hasOwn(scalars, name) ? scalars[name]! : null;
export const aggregateOf = (name: string) => (Object.hasOwn(aggregates, name) ? aggregates[name]! : null);
