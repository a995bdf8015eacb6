import { JobFault } from '../fault.ts';
import type { Page } from './page.ts';

/** The forms of documents that are read without OCR. */
export type DocumentType = 'pdf' | 'docx' | 'xlsx' | 'csv' | 'tsv' | 'html' | 'text';

/** Reads the file `source` of the job's folder. */
export interface DocumentReadInput {
  type: DocumentType;
  /** The pages asked for, from 1; null for all. */
  ranges: [from: number, to: number][] | null;
  /** Number of pages asked for, above which the failure is `too_many_pages`. */
  maxPages: number;
  /** Reading ends when the lines have this many characters. */
  maxCharacters: number;
  /** Counts the pages and reads none. */
  countOnly?: boolean;
}

export interface DocumentRead {
  pages: Page[];
  /** Number of pages of the document. */
  total: number;
  /** The pages asked for: those that `pages` has, or would have. */
  asked: number[];
  /** Pages of a PDF on which there is no text. */
  without_text: number[];
  /** The text went on after `maxCharacters`. */
  cut: boolean;
}

/** Collects the pages of a document within the limits. */
export class Reading {
  readonly #left: { characters: number };
  readonly result: DocumentRead;

  constructor(total: number, asked: number[], maxCharacters: number) {
    this.#left = { characters: maxCharacters };
    this.result = { pages: [], total, asked, without_text: [], cut: false };
  }

  get isFull(): boolean {
    return this.result.cut;
  }

  /** Adds as much of the page as there is room for. */
  add(page: Page): void {
    const lines: Page['lines'] = [];
    for (const line of page.lines) {
      const room = this.#left.characters;
      // A line end counts too.
      this.#left.characters -= line.text.length + 1;
      if (this.#left.characters >= 0) lines.push(line);
      else {
        this.result.cut = true;
        if (room > 0) lines.push(cutLine(line, room));
        break;
      }
    }
    this.result.pages.push({ ...page, lines });
  }
}

const cutLine = (line: Page['lines'][number], end: number): Page['lines'][number] => {
  const text = line.text.slice(0, end).replace(/[\ud800-\udbff]$/, '');
  return {
    ...line,
    text,
    ...(line.words && { words: line.words.filter((word) => word.end <= text.length) }),
  };
};

/** The pages asked for, from 1, of those that there are. Throws `too_many_pages`. */
export const pagesAskedFor = (
  total: number,
  { ranges, maxPages }: { ranges: [number, number][] | null; maxPages: number },
): number[] => {
  const asked = new Set<number>();
  for (const [from, to] of ranges ?? [[1, total]]) {
    // A damaged file can claim any number of pages.
    for (let page = from!; page <= Math.min(to!, total) && asked.size <= maxPages; page++) asked.add(page);
  }
  if (asked.size > maxPages) {
    throw new JobFault('too_many_pages', `more than ${maxPages} pages cannot be read at once`);
  }
  return [...asked].sort((a, b) => a - b);
};
