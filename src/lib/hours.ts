/** Counts by hours, for graphs. Times in milliseconds since 1970. */

export const hourMs = 3_600_000;

/** The beginning of the hour of `at`. */
export const hourOf = (at: number): number => Math.floor(at / hourMs) * hourMs;

/** The beginnings of the hours from `from` to `to`. */
export const hoursBetween = (from: number, to: number): number[] => {
  const hours: number[] = [];
  for (let at = hourOf(from); at <= to; at += hourMs) hours.push(at);
  return hours;
};

/** Sums `counts` by hour and by the key that `keyOf` returns. */
export const sumsOf = <C extends { at: number; n: number }>(
  counts: readonly C[],
  keyOf: (count: C) => string,
): ((at: number, key: string) => number) => {
  const sums = new Map<string, number>();
  for (const count of counts) {
    const key = `${hourOf(count.at)} ${keyOf(count)}`;
    sums.set(key, (sums.get(key) ?? 0) + count.n);
  }
  return (at, key) => sums.get(`${at} ${key}`) ?? 0;
};
