import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';

/**
 * The comparison of two arms of trials: a paired permutation test on one score a case. Exact for every kind of score and
 * size: if the arms are equal, each case's two results can be swapped.
 */

/** The mean scores of one case in both arms, each from 0 to 1. */
export interface PairedScores {
  before: number;
  after: number;
}

/** Figures of a comparison. All but `cases` are null without a case; `detectableDrop` also with one. */
export interface Comparison {
  /** Cases that were scored in both arms. */
  cases: number;
  before: number | null;
  after: number | null;
  /** Mean of before − after. */
  drop: number | null;
  /** Share of the ways to swap the arms, case by case, in which the drop is at least as large. */
  pValue: number | null;
  /** The smallest true drop that would be seen 9 times of 10. */
  detectableDrop: number | null;
}

/** Up to so many differences, all sign patterns are counted. */
const mostExact = 16;
const drawnPatterns = 20_000;
/** Additions before other work of the process has its turn: about a millisecond. */
const additionsATurn = 200_000;
/** Quantile of the normal distribution at 0.9: a drop is detectable if it is seen 9 times of 10. */
const zOfPower = 1.2816;
/** A comparison of fewer cases decides nothing. */
export const fewestCases = 20;
const mostUnscored = 0.05;

/** Sums that differ by less are equal: a mean such as 0.1 + 0.2 has no exact form. */
const tolerance = 1e-9;

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const meanOf = (values: readonly number[]): number => sum(values) / values.length;

/** Returns the distribution function of the normal distribution (Marsaglia 2004: a series that converges everywhere). */
const normalCdf = (x: number): number => {
  let term = x;
  let total = x;
  for (let k = 1; Math.abs(term) > 1e-17; k++) {
    term *= (x * x) / (2 * k + 1);
    total += term;
  }
  return 0.5 + (total * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI);
};

/**
 * Returns the quantile of the normal distribution at `p`, from 0.5 to 0.9999. Newton's method from the left: above 0 the
 * distribution function is concave, so that no step passes the root.
 */
export const normalQuantile = (p: number): number => {
  let x = 0;
  for (let k = 0; k < 100; k++) {
    const density = Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
    const step = (p - normalCdf(x)) / density;
    x += step;
    if (Math.abs(step) < 1e-12) break;
  }
  return x;
};

/** Returns a generator of 32 random bits (sfc32) that always gives the same ones for the same seed. */
const generatorOf = (seed: string): (() => number) => {
  const digest = createHash('sha256').update(seed).digest();
  let a = digest.readUInt32LE(0);
  let b = digest.readUInt32LE(4);
  let c = digest.readUInt32LE(8);
  let d = digest.readUInt32LE(12);
  return () => {
    const next = (a + b + d) >>> 0;
    d = (d + 1) >>> 0;
    a = (b ^ (b >>> 9)) >>> 0;
    b = (c + (c << 3)) >>> 0;
    c = (((c << 21) | (c >>> 11)) + next) >>> 0;
    return next;
  };
};

/** The sums of all subsets of up to 8 differences: 10,000 cases are then 1,250 additions a pattern. */
const subsetSums = (block: readonly number[]): Float64Array => {
  const sums = new Float64Array(256);
  for (let pattern = 1; pattern < 256; pattern++) {
    const lowest = 31 - Math.clz32(pattern & -pattern);
    sums[pattern] = sums[pattern & (pattern - 1)]! + (block[lowest] ?? 0);
  }
  return sums;
};

/**
 * Returns the share of the sign patterns of the differences that are not zero whose sum is at least theirs. The sum of a
 * pattern is theirs less twice the sum of those whose sign it turns: so the turned ones must sum to 0 or less.
 */
const pValueOf = async (differences: readonly number[], seed: string): Promise<number> => {
  const nonZero = differences.filter((d) => Math.abs(d) > tolerance);
  const blocks: Float64Array[] = [];
  for (let at = 0; at < nonZero.length; at += 8) blocks.push(subsetSums(nonZero.slice(at, at + 8)));
  let hits = 0;
  if (nonZero.length <= mostExact) {
    const [low, high] = blocks;
    const patterns = 2 ** nonZero.length;
    for (let pattern = 0; pattern < patterns; pattern++) {
      if ((low?.[pattern & 255] ?? 0) + (high?.[pattern >>> 8] ?? 0) <= tolerance) hits++;
    }
    return hits / patterns;
  }
  const next = generatorOf(seed);
  const patternsATurn = Math.ceil(additionsATurn / blocks.length);
  for (let drawn = 0; drawn < drawnPatterns; drawn++) {
    let turned = 0;
    let bits = 0;
    for (let k = 0; k < blocks.length; k++) {
      bits = k % 4 === 0 ? next() : bits >>> 8;
      turned += blocks[k]![bits & 255]!;
    }
    if (turned <= tolerance) hits++;
    if (drawn % patternsATurn === patternsATurn - 1) await turn();
  }
  return (1 + hits) / (drawnPatterns + 1);
};

/** Compares two arms. `seed`: the ids of their experiments, so that the same question has the same reply. */
export const compareArms = async (
  cases: readonly PairedScores[],
  { confidence, seed }: { confidence: number; seed: readonly string[] },
): Promise<Comparison> => {
  const n = cases.length;
  if (n === 0) {
    return { cases: 0, before: null, after: null, drop: null, pValue: null, detectableDrop: null };
  }
  const differences = cases.map(({ before, after }) => before - after);
  const drop = meanOf(differences);
  const sd = Math.sqrt(sum(differences.map((d) => (d - drop) ** 2)) / (n - 1));
  return {
    cases: n,
    before: meanOf(cases.map(({ before }) => before)),
    after: meanOf(cases.map(({ after }) => after)),
    drop,
    pValue: await pValueOf(differences, seed.join('\n')),
    detectableDrop: n === 1 ? null : ((normalQuantile(confidence) + zOfPower) * sd) / Math.sqrt(n),
  };
};

/** Returns whether the second arm is worse: its drop is too large, and no accident. */
export const isWorse = (
  { drop, pValue }: Comparison,
  { maxDrop, confidence }: { maxDrop: number; confidence: number },
): boolean =>
  drop !== null && pValue !== null && drop - maxDrop > tolerance && pValue - (1 - confidence) <= tolerance;

/** Returns whether too little was scored for a verdict: more than 5 % of an arm's trials are not, or cases are too few. */
export const isInconclusive = (
  { cases }: Pick<Comparison, 'cases'>,
  arms: readonly { trials: number; unscored: number }[],
): boolean =>
  cases < fewestCases || arms.some(({ trials, unscored }) => unscored > mostUnscored * trials + tolerance);
