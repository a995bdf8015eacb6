/** The wait after `failures` in a row (1 for the first), in milliseconds: doubled each time, at most `longestMs`. */
export const backOff = (failures: number, firstMs: number, longestMs: number): number =>
  Math.min(longestMs, firstMs * 2 ** Math.min(failures - 1, 20));
