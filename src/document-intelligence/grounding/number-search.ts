import { canonicalOf, readingsOf, withoutCurrency } from '../schema/numbers.ts';
import { maxPlaces, type Span } from './automaton.ts';
import type { DocumentText } from './text.ts';
import type { Tokeniser } from './tokens.ts';

/** The raw positions of a number. */
export interface NumberPlaces {
  /** Written as JSON writes it. */
  verbatim: Span[];
  /** With grouping, currency, another decimal sign or other zeros. */
  normalised: Span[];
}

/** A number is not longer than this; longer tokens are passed over. */
const longest = 60;
const oneBlank = /^[ \u00a0\u2009\u202f]$/u;
const sign = /^[-−]$/u;
const currencySign = /^\p{Sc}$/u;

/** A part of a token, by raw positions. */
interface Part extends Span {
  text: string;
}

/**
 * Finds numbers in the tokens of the normalised text. A text that can be two numbers (`1,234`) is a place of both. A sign
 * belongs to its number: `12.5` is not in `-12.5`. Parentheses around a number and a sign after it may mean that it is
 * negative, or not: both numbers are found.
 */
export class NumberSearch {
  readonly #text: DocumentText;
  readonly #wanted = new Map<string, NumberPlaces>();
  /** Parts that a blank may join into one number: `1 234 567,50`. */
  #group: Part[] = [];

  constructor(text: DocumentText) {
    this.#text = text;
  }

  /** `canonical` as `canonicalOf` returns it. */
  add(canonical: string): NumberPlaces {
    const places = this.#wanted.get(canonical) ?? { verbatim: [], normalised: [] };
    this.#wanted.set(canonical, places);
    return places;
  }

  get isEmpty(): boolean {
    return this.#wanted.size === 0;
  }

  /** Looks at the current token of the normalised text. */
  visit(tokeniser: Tokeniser): void {
    const { start, end, isWord } = tokeniser;
    if (!isWord) {
      if (!this.#isOneBlank(start, end)) this.endGroup();
      return;
    }
    const text = this.#text.normalised.slice(start, Math.min(end, start + longest + 1));
    if (text.length > longest || !/\d/.test(text)) {
      this.endGroup();
      return;
    }
    const part = { text, start: this.#text.origin(start), end: this.#rawEnd(end) };
    const digits = withoutCurrency(text);
    const begin = part.start + text.indexOf(digits);
    if (!/^\d[\d.,'’]*$/.test(digits)) this.endGroup();
    else if (readingsOf(digits).length > 0) {
      this.#found(digits, part);
      this.#extendGroup({ ...part, text: digits });
    } else {
      // Numbers with commas between them: `5,12.50`.
      this.endGroup();
      for (const { 0: item, index } of digits.matchAll(/[^,]+/g)) {
        this.#found(item, { start: begin + index, end: begin + index + item.length });
      }
    }
  }

  endGroup(): void {
    const group = this.#group;
    this.#group = [];
    if (group.length < 2) return;
    this.#found(group.map(({ text }) => text).join(' '), {
      start: group[0]!.start,
      end: group.at(-1)!.end,
    });
  }

  #extendGroup(part: Part): void {
    const isRest = /^\d{3}(?:[.,]\d+)?$/.test(part.text);
    if (this.#group.length === 0 || !isRest || this.#group.length >= 10) this.endGroup();
    const isFirst = this.#group.length === 0;
    if (isFirst ? /^\d{1,3}$/.test(part.text) : isRest) this.#group.push(part);
    if (/[.,]/.test(part.text)) this.endGroup();
  }

  /** Several blanks, which are one in the normalised text, divide cells. */
  #isOneBlank(start: number, end: number): boolean {
    const [from, to] = [this.#text.origin(start), this.#text.origin(end)];
    return to - from === 1 && oneBlank.test(this.#text.raw[from] ?? '');
  }

  /** The end in the raw text of what ends at a normalised position. */
  #rawEnd(end: number): number {
    return this.#text.origin(end - 1) + 1;
  }

  #found(digits: string, place: Span): void {
    const { raw } = this.#text;
    const before = (at: number): string => raw[at - 1] ?? '';
    let { start } = place;
    if (currencySign.test(before(start))) start--;
    const isNegative = sign.test(before(start)) && !isWordCharacter(before(start - 1));
    let after = place.end;
    if (currencySign.test(raw[after] ?? '')) after++;
    const maybeNegative =
      (before(start) === '(' && raw[after] === ')') ||
      (sign.test(raw[after] ?? '') && !isWordCharacter(raw[after + 1] ?? ''));
    const readings = readingsOf(digits, isNegative);
    if (maybeNegative && !isNegative) readings.push(...readingsOf(digits, true));
    for (const canonical of readings) {
      const places = this.#wanted.get(canonical);
      if (!places) continue;
      const from = isNegative ? start - 1 : place.start;
      const isVerbatim =
        (/^-?\d+$/.test(canonical) || canonicalOf(Number(canonical)) === canonical) &&
        raw.slice(from, place.end) === canonical;
      const list = isVerbatim ? places.verbatim : places.normalised;
      if (list.length < maxPlaces) list.push({ start: from, end: place.end });
    }
  }
}

const isWordCharacter = (character: string): boolean => /[\p{L}\p{N}]/u.test(character);
