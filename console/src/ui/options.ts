import type { Option } from './Select.tsx';

/** The options of a choice, from a catalog's words by value. `notes` stand after the words. */
export const optionsOf = <V extends string>(
  words: Readonly<Record<V, string>>,
  notes?: Readonly<Record<V, string>>,
): (Option & { value: V })[] =>
  (Object.keys(words) as V[]).map((value) => ({
    value,
    label: words[value],
    ...(notes ? { note: notes[value] } : {}),
  }));
