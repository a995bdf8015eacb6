import { catalog } from '../catalog.ts';
import { number, plural, usd } from '../index.ts';

/** The cost of calls of models. What is not known is said, and never shown as nothing. */
const amount = (nano: number, unknown: number): string => {
  if (unknown === 0) return usd(nano);
  const without = plural(unknown, { one: '1 call', other: `${number(unknown)} calls` });
  return nano === 0
    ? `unknown; ${without} without a price`
    : `at least ${usd(nano)}; ${without} without a price`;
};

/** Of its own, because the Overview needs no more of the words about costs. */
export const cost = catalog({ amount });
