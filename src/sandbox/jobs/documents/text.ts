import { readTextFile } from '../text-file.ts';
import { linesOfMarkup } from './markup.ts';
import type { Page } from './page.ts';

const separators = [',', ';', '\t', '|'];

/** The separator that the first line has most of; the comma at a tie. */
const separatorOf = (firstLine: string): string => {
  const counts = separators.map((separator) => firstLine.split(separator).length);
  return separators[counts.indexOf(Math.max(...counts))]!;
};

/** The one page of a text file, line by line. */
export const readText = (source: string, type: 'csv' | 'tsv' | 'html' | 'text'): Page => {
  const text = readTextFile(source);
  const lines = type === 'html' ? linesOfMarkup(text) : text.split(/\r\n|[\n\r\u2028\u2029]/);
  if (lines.at(-1) === '') lines.pop();
  const separator = type === 'csv' ? separatorOf(lines[0] ?? '') : undefined;
  return {
    page: 1,
    lines: lines.map((line) => ({ text: line, bbox: null })),
    ...(separator && { separator }),
  };
};
