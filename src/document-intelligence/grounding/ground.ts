import { pause } from '../../lib/pause.ts';
import type { Box, Page } from '../../sandbox/index.ts';
import { around } from '../boxes.ts';
import type { Scalar } from '../schema/coerce.ts';
import { canonicalOf, numbersIn } from '../schema/numbers.ts';
import { Automaton, maxPlaces, type Span } from './automaton.ts';
import { DateSearch, dayOf } from './dates.ts';
import { NumberSearch } from './number-search.ts';
import { DocumentText, normalise } from './text.ts';
import { Tokeniser } from './tokens.ts';

export type Confidence = 'high' | 'medium' | 'low';

/** A place in the document where a value stands. */
export interface Citation {
  page: number;
  /** From 1. */
  line: number;
  /** The line, cut at 200 characters. */
  text: string;
  /** The box of its words if the reader gave words, else of the line. */
  bbox: Box | null;
}

export interface Grounding {
  confidence: Confidence;
  /** At most five, in reading order. */
  citations: Citation[];
  isFound: boolean;
}

const shownCharacters = 200;
/** OCR that is less sure than this lowers the confidence by one. */
const sureFrom = 0.7;
const lower = { high: 'medium', medium: 'low', low: 'low' } as const;
const tokensAtOnce = 20_000;

/** The searches for one value. The places are filled in while the text is searched, as raw positions. */
interface Search {
  verbatim: Span[][];
  /** Raw positions. */
  normalised: Span[][];
  /** Positions in the normalised text. */
  inNormalised: Span[][];
}

/**
 * Searches each value in the document: as it is, then normalised (compatibility forms, case, blanks and line ends;
 * numbers in all ways of writing them; days in twelve layouts). The work is linear in the text and the values together,
 * and is done in parts between which other requests have their turn.
 */
export const groundValues = async (
  values: readonly Exclude<Scalar, null>[],
  pages: readonly Page[],
): Promise<Grounding[]> => {
  const text = await DocumentText.of(pages, pause);
  const index = new DocumentSearch(text);
  const searches = values.map((value) => index.add(value));
  await index.run();
  return searches.map((search) => groundingOf(search, text));
};

class DocumentSearch {
  readonly #text: DocumentText;
  readonly #verbatim = new Automaton();
  readonly #normalised = new Automaton();
  readonly #numbers: NumberSearch;
  readonly #dates = new DateSearch();

  constructor(text: DocumentText) {
    this.#text = text;
    this.#numbers = new NumberSearch(text);
  }

  add(value: Exclude<Scalar, null>): Search {
    const search: Search = { verbatim: [], normalised: [], inNormalised: [] };
    if (typeof value === 'number' || typeof value === 'bigint') {
      this.#addNumber(canonicalOf(value), search);
    } else if (typeof value === 'boolean') {
      search.verbatim.push(this.#verbatim.add(String(value)));
      for (const word of value ? ['true', 'yes'] : ['false', 'no']) {
        search.inNormalised.push(this.#normalised.add(word));
      }
    } else this.#addText(value, search);
    return search;
  }

  async run(): Promise<void> {
    const { raw, normalised, pages } = this.#text;
    for (const automaton of [this.#verbatim, this.#normalised]) automaton.build();
    for (const { page, rawStart, rawEnd, start, end } of pages) {
      const { separator } = page;
      if (!this.#verbatim.isEmpty) {
        await this.#verbatim.search(new Tokeniser(raw, separator, rawStart, rawEnd), tokensAtOnce, pause);
      }
      if (!this.#normalised.isEmpty) {
        await this.#normalised.search(new Tokeniser(normalised, separator, start, end), tokensAtOnce, pause);
      }
      if (!this.#numbers.isEmpty) await this.#searchNumbers(separator, start, end);
      if (!this.#dates.isEmpty) await this.#dates.search(normalised, start, end, pause);
    }
  }

  async #searchNumbers(separator: string | undefined, start: number, end: number): Promise<void> {
    const tokeniser = new Tokeniser(this.#text.normalised, separator, start, end);
    for (let count = 1; tokeniser.next(); count++) {
      this.#numbers.visit(tokeniser);
      if (count % tokensAtOnce === 0) await pause();
    }
    this.#numbers.endGroup();
  }

  #addText(value: string, search: Search): void {
    const trimmed = value.trim();
    // Over a line end it is never verbatim.
    if (!/[\r\n]/.test(trimmed)) search.verbatim.push(this.#verbatim.add(trimmed));
    const normalised = normalise(value);
    search.inNormalised.push(this.#normalised.add(normalised));
    const day = dayOf(normalised);
    if (day !== null) search.inNormalised.push(this.#dates.add(day));
    // Zeros in front are those of a key, not of an amount.
    const [number, ...others] = /^0\d/.test(normalised) || !/\d/.test(normalised) ? [] : numbersIn(value);
    if (number !== undefined && others.length === 0) this.#addNumber(number, search, false);
  }

  #addNumber(canonical: string | null, search: Search, isNumber = true): void {
    if (canonical === null) return;
    const { verbatim, normalised } = this.#numbers.add(canonical);
    search.normalised.push(normalised);
    // A text that is found as another text of the same number is not found as it is.
    (isNumber ? search.verbatim : search.normalised).push(verbatim);
  }
}

const groundingOf = ({ verbatim, normalised, inNormalised }: Search, text: DocumentText): Grounding => {
  const exact = firstOf(verbatim);
  const spans =
    exact.length > 0
      ? exact
      : firstOf([
          ...normalised,
          ...inNormalised.map((list) =>
            list.map(({ start, end }) => ({ start: text.origin(start), end: text.origin(end - 1) + 1 })),
          ),
        ]);
  if (spans.length === 0) return { confidence: 'low', citations: [], isFound: false };
  const found = exact.length > 0 ? 'high' : 'medium';
  const isSure = spans.some(({ start }) => (text.lineAt(start).line.confidence ?? 1) >= sureFrom);
  return {
    confidence: isSure ? found : lower[found],
    citations: spans.map((span) => citationOf(span, text)),
    isFound: true,
  };
};

/** The first five places in reading order, each once. */
const firstOf = (lists: readonly Span[][]): Span[] => {
  const byStart = new Map<number, Span>();
  for (const span of lists.flat()) {
    const known = byStart.get(span.start);
    if (!known || known.end < span.end) byStart.set(span.start, span);
  }
  return [...byStart.values()].sort((a, b) => a.start - b.start).slice(0, maxPlaces);
};

const citationOf = ({ start, end }: Span, text: DocumentText): Citation => {
  const { page, number, line, rawStart } = text.lineAt(start);
  const words = (line.words ?? []).filter(
    (word) => word.start < end - rawStart && word.end > start - rawStart,
  );
  const box = words.length > 0 ? around(words.map(({ bbox }) => bbox)) : line.bbox;
  return {
    page,
    line: number,
    text: [...line.text.slice(0, shownCharacters * 2)].slice(0, shownCharacters).join(''),
    bbox: box && onPage(box),
  };
};

/** A box with what lies outside the page cut off, in steps of 1/100,000 of the page. */
const onPage = ({ left, top, width, height }: Box): Box => {
  const clamp = (value: number): number => Math.min(Math.max(Number.isFinite(value) ? value : 0, 0), 1);
  const [x, y] = [clamp(left), clamp(top)];
  const round = (value: number): number => Math.round(value * 1e5) / 1e5;
  return {
    left: round(x),
    top: round(y),
    width: round(clamp(left + width) - x),
    height: round(clamp(top + height) - y),
  };
};
