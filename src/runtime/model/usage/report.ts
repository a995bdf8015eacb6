import { isObject } from '../../../lib/objects.ts';
import { noTokens, type ReportedTokens, type Tokens, totalTokens } from '../../../lib/tokens.ts';

/** A usage object as an endpoint sent it. */
export type Usage = Record<string, unknown>;

/** Returns the object at a key; an empty one if there is none. */
export const objectAt = (usage: Usage, key: string): Usage => {
  const value = usage[key];
  return isObject(value) ? value : {};
};

/** Returns the objects of the list at a key. */
export const listAt = (usage: Usage, key: string): Usage[] => {
  const value = usage[key];
  return Array.isArray(value) ? value.filter(isObject) : [];
};

/** The most tokens that one report can have in a bucket. */
const mostTokens = 1e12;

/** Puts what an endpoint reports into buckets, and notes where it contradicts itself. It is counted all the same. */
export class Report {
  readonly #tokens: Tokens = { ...noTokens };
  #unreconciled = false;

  /** Returns the first count that is there; 0 if none is, and for nonsense, such as more tokens than any call can have. */
  count(...values: unknown[]): number {
    const value = values.find((one) => one !== undefined && one !== null) ?? 0;
    if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= mostTokens) {
      return value as number;
    }
    this.#unreconciled = true;
    return 0;
  }

  add(bucket: keyof Tokens, count: number): void {
    this.#tokens[bucket] += count;
  }

  /** Adds the parts of a whole, and what is left of it to `rest`. Parts that exceed it are cut in their order. */
  split(whole: number, parts: readonly (readonly [keyof Tokens, number])[], rest: keyof Tokens): void {
    let left = whole;
    for (const [bucket, count] of parts) {
      const fits = Math.min(count, left);
      this.require(fits === count);
      this.add(bucket, fits);
      left -= fits;
    }
    this.add(rest, left);
  }

  /** What a report must fulfil. */
  require(holds: boolean): void {
    if (!holds) this.#unreconciled = true;
  }

  /** Checks the reported total, if there is one. `without`: tokens that it may leave out. */
  checkTotal(total: unknown, without = 0): void {
    if (total === undefined || total === null) return;
    const sum = totalTokens(this.#tokens);
    this.require(total === sum || total === sum - without);
  }

  get result(): ReportedTokens {
    return { tokens: this.#tokens, unreconciled: this.#unreconciled };
  }
}
