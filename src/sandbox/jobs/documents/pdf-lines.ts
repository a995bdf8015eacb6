import type { Box, Line, Word } from './page.ts';

/** A run of text of a page, with what it takes in points from the top left of the page as it is shown. */
export interface TextRun {
  text: string;
  left: number;
  top: number;
  right: number;
  bottom: number;
}

interface Size {
  width: number;
  height: number;
}

/** A run belongs to the line before it if their middles differ by less than this part of the smaller height. */
const sameLine = 0.5;
/** A gap of more than this part of the height is a blank. */
const blankFrom = 0.15;
/** A gap of more than this part of the height divides cells, as in a table: `1` and `234,50` are not 1 234,50. */
export const cellFrom = 1;
/** A run this much left of the end of the line before, in heights, begins another line. */
const backFrom = 1;

const boxOf = ({ left, top, right, bottom }: Omit<TextRun, 'text'>, { width, height }: Size): Box => ({
  left: left / width,
  top: top / height,
  width: (right - left) / width,
  height: (bottom - top) / height,
});

const continues = (run: TextRun, last: TextRun): boolean => {
  const height = Math.min(run.bottom - run.top, last.bottom - last.top);
  const apart = Math.abs((run.top + run.bottom - last.top - last.bottom) / 2);
  return apart <= height * sameLine && run.left >= last.right - height * backFrom;
};

/**
 * Joins runs, in the order in which the page paints them, to lines. The order is kept: what stands in one column is not
 * mixed with the column next to it.
 */
export const linesOfRuns = (runs: readonly TextRun[], size: Size): Line[] => {
  const groups: TextRun[][] = [];
  for (const run of runs) {
    const group = groups.at(-1);
    if (group && continues(run, group.at(-1)!)) group.push(run);
    else groups.push([run]);
  }
  return groups.map((group) => lineOf(group, size));
};

const lineOf = (group: readonly TextRun[], size: Size): Line => {
  let text = '';
  const words: Word[] = [];
  let last: TextRun | undefined;
  for (const run of group) {
    const gap = last ? (run.left - last.right) / (run.bottom - run.top) : 0;
    if (gap > cellFrom) text = `${text.trimEnd()}\t`;
    else if (gap > blankFrom && !/\s$/.test(text) && !/^\s/.test(run.text)) text += ' ';
    words.push(...wordsOf(run, text.length, size));
    text += run.text;
    last = run;
  }
  const around = {
    left: Math.min(...group.map(({ left }) => left)),
    top: Math.min(...group.map(({ top }) => top)),
    right: Math.max(...group.map(({ right }) => right)),
    bottom: Math.max(...group.map(({ bottom }) => bottom)),
  };
  return { text, bbox: boxOf(around, size), words };
};

/** The words of a run. How wide each is follows from its characters: the run has one width for all. */
const wordsOf = (run: TextRun, start: number, size: Size): Word[] => {
  const unit = (run.right - run.left) / run.text.length;
  return [...run.text.matchAll(/\S+/g)].map(({ 0: word, index }) => ({
    start: start + index,
    end: start + index + word.length,
    bbox: boxOf(
      { ...run, left: run.left + index * unit, right: run.left + (index + word.length) * unit },
      size,
    ),
  }));
};
