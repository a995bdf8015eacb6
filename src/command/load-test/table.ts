import { columns } from '../show.ts';

/** A line of the result. Times are milliseconds. */
export interface Row {
  what: string;
  /** Number of successes. */
  count: number;
  failed: number;
  took: readonly number[];
  perSecond: number | null;
}

/** Returns the least of `values` that the part `p` of them does not exceed. NaN if there is none. */
const percentile = (values: readonly number[], p: number): number =>
  values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * p) - 1)] ?? Number.NaN;

const shownMs = (value: number): string =>
  Number.isNaN(value) ? '–' : value < 10_000 ? `${Math.round(value)} ms` : `${(value / 1_000).toFixed(1)} s`;

/** The result as text: the first column to the left, the others to the right. */
export const showRows = (rows: readonly Row[]): string => {
  return columns([
    ['', 'done', 'failed', 'median', 'p99', 'most', 'a second'],
    ...rows.map(({ what, count, failed, took, perSecond }) => [
      what,
      String(count),
      String(failed),
      shownMs(percentile(took, 0.5)),
      shownMs(percentile(took, 0.99)),
      shownMs(percentile(took, 1)),
      perSecond === null ? '–' : perSecond.toFixed(1),
    ]),
  ]);
};
