import type { ReadFile } from './reading.ts';
import { readLines } from './reading.ts';

/** The fields of a case in an export. */
export const exportedFields = ['name', 'input', 'expected', 'tags', 'graders', 'enabled', 'tape'] as const;

const known = new Set<string>(exportedFields);

/** Reads lines that are cases already: what an export writes. */
export const readJsonl = (content: string): ReadFile => {
  const { lines, faults } = readLines(content);
  const warnings = lines.flatMap(({ line, value }) =>
    Object.keys(value)
      .filter((key) => !known.has(key))
      .map((key) => ({ line, message: `\`${key}\` is not a field of a case and is left out` })),
  );
  const cases = lines.map(({ line, value }) => ({
    line,
    fields: Object.fromEntries(Object.entries(value).filter(([key]) => known.has(key))),
  }));
  return { cases, warnings, faults };
};
