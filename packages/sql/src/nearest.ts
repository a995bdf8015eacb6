/** At most this many are suggested. */
const most = 5;

/** The fewest letters to insert, delete, replace or swap to get from `a` to `b`; more than `limit` counts as `limit + 1`. */
const distance = (a: string, b: string, limit: number): number => {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min(previous[j]! + 1, current[j - 1]! + 1, previous[j - 1]! + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, before[j - 2]! + 1);
      current.push(best);
    }
    before = previous;
    previous = current;
  }
  return previous[b.length]!;
};

/** Names longer than this are compared by their beginnings, so that a long name costs no more than a short one. */
const longest = 64;

/**
 * Those of `names` that are like `name`, the nearest first, at most 5: one letter in three may differ, or one holds the
 * other. Case does not count.
 */
export const nearest = (name: string, names: Iterable<string>): string[] => {
  const wanted = name.toLowerCase().slice(0, longest);
  if (wanted === '') return [];
  const limit = Math.max(1, Math.floor(wanted.length / 3));
  const found: { other: string; score: number }[] = [];
  for (const other of names) {
    const candidate = other.toLowerCase().slice(0, longest);
    const letters = distance(wanted, candidate, limit);
    if (letters <= limit) found.push({ other, score: letters });
    else if (
      Math.min(wanted.length, candidate.length) >= 3 &&
      (candidate.includes(wanted) || wanted.includes(candidate))
    )
      found.push({ other, score: limit + 1 + Math.abs(candidate.length - wanted.length) / longest });
  }
  found.sort((a, b) => a.score - b.score || (a.other < b.other ? -1 : 1));
  return found.slice(0, most).map(({ other }) => other);
};

/** The end of a message that names `suggestions`; empty without any. */
export const didYouMean = (suggestions: readonly string[]): string =>
  suggestions.length > 0 ? ` Did you mean ${suggestions.map((one) => `\`${one}\``).join(' or ')}?` : '';
