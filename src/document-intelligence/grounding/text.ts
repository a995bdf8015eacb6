import type { Line, Page } from '../../sandbox/index.ts';

const cluster = /\P{M}\p{M}{0,16}|\p{M}{1,16}/gu;
const blank = /\s/u;

/** Characters that are worked on before other requests run. */
const stride = 50_000;

export interface PageRange {
  page: Page;
  rawStart: number;
  rawEnd: number;
  start: number;
  end: number;
}

interface LineStart {
  page: number;
  /** From 1. */
  number: number;
  line: Line;
  rawStart: number;
}

/** Between pages: no value runs over it. It is nowhere else in the text. */
const pageBreak = '\u0000';

/** A text that grows, with its length. */
class Piece {
  readonly #parts: string[] = [];
  length = 0;
  /** The last character is a blank, which runs of blanks become. */
  endsBlank = true;

  add(part: string): void {
    this.#parts.push(part);
    this.length += part.length;
  }

  text(): string {
    return this.#parts.join('');
  }
}

/** Positions in an array that grows. */
class Origins {
  #positions = new Int32Array(1_024);
  #count = 0;

  add(position: number): void {
    if (this.#count === this.#positions.length) {
      const larger = new Int32Array(this.#count * 2);
      larger.set(this.#positions);
      this.#positions = larger;
    }
    this.#positions[this.#count++] = position;
  }

  at(index: number): number {
    return this.#positions[index]!;
  }
}

/**
 * Appends `text`, which is at `rawStart` of the raw text, in small letters, in the compatibility form of Unicode, each
 * run of blanks as one. A base character and its marks are normalised together.
 */
const appendNormalised = (text: string, rawStart: number, to: Piece, origins: Origins): void => {
  let part = '';
  const add = (form: string, origin: number): void => {
    for (const character of form) {
      const isBlank = blank.test(character);
      if (isBlank && to.endsBlank) continue;
      to.endsBlank = isBlank || character === pageBreak;
      part += isBlank ? ' ' : character;
      for (let i = 0; i < character.length; i++) origins.add(origin);
    }
  };
  for (const { 0: found, index } of text.matchAll(cluster)) {
    add(found.normalize('NFKC').toLowerCase(), rawStart + index);
  }
  to.add(part);
};

/** A value as it stands in the normalised text of a document, without blanks at its ends. */
export const normalise = (text: string): string => {
  const piece = new Piece();
  appendNormalised(text, 0, piece, new Origins());
  return piece.text().trimEnd();
};

/**
 * The text of a document twice: as it is, with `\n` between lines, and normalised, where a line end is a blank. Both are
 * searched; a position in the normalised text leads back to the raw one.
 */
export class DocumentText {
  readonly raw: string;
  readonly normalised: string;
  readonly pages: readonly PageRange[];
  /** For each unit of `normalised` the position in `raw` that it comes from, and one more for the end. */
  readonly #origins: Origins;
  readonly #lines: readonly LineStart[];

  /** `pause` is awaited from time to time, so that other requests have their turn. */
  static async of(pages: readonly Page[], pause: () => Promise<void>): Promise<DocumentText> {
    const raw = new Piece();
    const normalised = new Piece();
    const origins = new Origins();
    const ranges: PageRange[] = [];
    const lines: LineStart[] = [];
    let paused = 0;
    for (const page of pages) {
      const range = { page, rawStart: raw.length, rawEnd: 0, start: normalised.length, end: 0 };
      for (const [i, line] of page.lines.entries()) {
        lines.push({ page: page.page, number: i + 1, line, rawStart: raw.length });
        for (let from = 0; from < line.text.length; from += stride) {
          const text = line.text.slice(from, from + stride).replaceAll(pageBreak, '\ufffd');
          appendNormalised(text, raw.length, normalised, origins);
          raw.add(text);
          if (raw.length - paused > stride) {
            paused = raw.length;
            await pause();
          }
        }
        appendNormalised('\n', raw.length, normalised, origins);
        raw.add('\n');
      }
      range.rawEnd = raw.length;
      range.end = normalised.length;
      ranges.push(range);
      appendNormalised(pageBreak, raw.length, normalised, origins);
      raw.add(pageBreak);
    }
    origins.add(raw.length);
    return new DocumentText(raw.text(), normalised.text(), ranges, origins, lines);
  }

  private constructor(
    raw: string,
    normalised: string,
    pages: PageRange[],
    origins: Origins,
    lines: LineStart[],
  ) {
    this.raw = raw;
    this.normalised = normalised;
    this.pages = pages;
    this.#origins = origins;
    this.#lines = lines;
  }

  /** The position in `raw` of a position in `normalised`. */
  origin(position: number): number {
    return this.#origins.at(position);
  }

  /** The line in which a position of `raw` is. */
  lineAt(position: number): LineStart {
    let low = 0;
    let high = this.#lines.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#lines[middle]!.rawStart <= position) low = middle;
      else high = middle - 1;
    }
    return this.#lines[low]!;
  }
}
