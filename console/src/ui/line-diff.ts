/** A line of one side: kept, only on this side, or none in the place of one that only the other side has. */
export interface DiffLine {
  text: string;
  mark: 'same' | 'only' | 'none';
}

/** More comparisons than this freeze the page: the middle then counts as replaced. */
const mostComparisons = 1_000_000;

/** The lengths of the longest common sequences of the ends of two lists of lines. */
const lengthsOf = (one: readonly string[], other: readonly string[]): Uint32Array[] => {
  const lengths = Array.from({ length: one.length + 1 }, () => new Uint32Array(other.length + 1));
  for (let i = one.length - 1; i >= 0; i -= 1) {
    for (let k = other.length - 1; k >= 0; k -= 1) {
      lengths[i]![k] =
        one[i] === other[k]
          ? lengths[i + 1]![k + 1]! + 1
          : Math.max(lengths[i + 1]![k]!, lengths[i]![k + 1]!);
    }
  }
  return lengths;
};

/**
 * Compares two texts by line. Returns both sides with the same number of lines, so that they stand next to each other: a
 * changed line is next to the one that took its place.
 */
export const diffLines = (before: string, after: string): { left: DiffLine[]; right: DiffLine[] } => {
  const [one, other] = [before, after].map((text) => (text === '' ? [] : text.split('\n'))) as [
    string[],
    string[],
  ];
  const left: DiffLine[] = [];
  const right: DiffLine[] = [];
  const none: DiffLine = { text: '', mark: 'none' };
  const even = () => {
    while (left.length < right.length) left.push(none);
    while (right.length < left.length) right.push(none);
  };
  const keep = (text: string) => {
    even();
    left.push({ text, mark: 'same' });
    right.push({ text, mark: 'same' });
  };
  const small = one.length * other.length <= mostComparisons;
  const lengths = small ? lengthsOf(one, other) : null;
  const isLeftFirst = (at: number, to: number): boolean =>
    lengths === null || lengths[at + 1]![to]! >= lengths[at]![to + 1]!;
  let i = 0;
  let k = 0;
  while (i < one.length || k < other.length) {
    if (i < one.length && k < other.length && one[i] === other[k]) {
      keep(one[i]!);
      i += 1;
      k += 1;
    } else if (k >= other.length || (i < one.length && isLeftFirst(i, k))) {
      left.push({ text: one[i]!, mark: 'only' });
      i += 1;
    } else {
      right.push({ text: other[k]!, mark: 'only' });
      k += 1;
    }
  }
  even();
  return { left, right };
};
