import type { Box, Line, Word } from '../../sandbox/index.ts';
import { around } from '../boxes.ts';
import type { ReadDocument } from '../readers/index.ts';

/** A line of a page. `parts`: where its parts stand, if there are gaps between them, as in a row of a table. */
interface ShownLine {
  text: string;
  bbox: Box | null;
  parts?: { text: string; bbox: Box }[];
}

/** A page as it was read. */
export interface ShownPage {
  page: number;
  /** Width by height; null if the document has no layout. */
  aspect: number | null;
  lines: ShownLine[];
}

/** Words that are further apart than this many letters are in different parts of their line. */
const gapLetters = 2;

/** The pages without the places of single words, which would be ten times as much. */
export const shownPages = ({ pages }: ReadDocument): ShownPage[] =>
  pages.map(({ page, aspect = null, lines }) => ({ page, aspect, lines: lines.map(shownLine) }));

const shownLine = (line: Line): ShownLine => {
  const { text, bbox, words = [] } = line;
  const groups = groupsOf(words);
  if (groups.length < 2) return { text, bbox };
  const parts = groups.map((group) => ({
    text: text.slice(group[0]!.start, group.at(-1)!.end),
    bbox: around(group.map(({ bbox }) => bbox)),
  }));
  return { text, bbox, parts };
};

/** The words in groups with gaps between them. */
const groupsOf = (words: readonly Word[]): Word[][] => {
  const letters = words.reduce((count, { start, end }) => count + end - start, 0);
  const gap = (gapLetters * words.reduce((sum, { bbox }) => sum + bbox.width, 0)) / letters;
  const groups: Word[][] = [];
  for (const word of words) {
    const before = groups.at(-1)?.at(-1);
    const isApart = !before || word.bbox.left - (before.bbox.left + before.bbox.width) > gap;
    if (isApart) groups.push([word]);
    else groups.at(-1)!.push(word);
  }
  return groups;
};
