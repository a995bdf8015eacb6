const word = /[\p{L}\p{M}\p{N}]/u;

/** 0: not yet known; 1: a letter, mark or digit; 2: anything else. For each code unit. */
const classes = new Uint8Array(65_536);

/** Letters, marks and digits belong to a word. The character may be a surrogate pair. */
const isWordAt = (text: string, index: number): boolean => {
  if (index < 0 || index >= text.length) return false;
  const unit = text.charCodeAt(index);
  if (unit >= 0xd800 && unit <= 0xdfff) {
    const high = unit >= 0xdc00 ? index - 1 : index;
    return word.test(String.fromCodePoint(text.codePointAt(Math.max(high, 0))!));
  }
  if (classes[unit] === 0) classes[unit] = word.test(String.fromCharCode(unit)) ? 1 : 2;
  return classes[unit] === 1;
};

const isDigitAt = (text: string, index: number): boolean => {
  const unit = text.charCodeAt(index);
  return unit >= 0x30 && unit <= 0x39;
};

/** Characters inside a number, between two digits. */
const joins = ".,'’";

/**
 * Cuts text into tokens without gaps: a run of letters, marks and digits, in which a number keeps its separators
 * (`1.234,75`), or one other character. Two tokens that touch are never both runs, so a sequence of tokens is found in
 * text only where no letter or digit touches it, and a number is never found in a longer one.
 */
export class Tokeniser {
  readonly #text: string;
  readonly #separator: string;
  /** The position of the current token. */
  start: number;
  end: number;
  isWord = false;
  readonly #until: number;

  /** `separator` is no part of a number. */
  constructor(text: string, separator = '', from = 0, until = text.length) {
    this.#text = text;
    this.#separator = separator;
    this.start = from;
    this.end = from;
    this.#until = until;
  }

  /** Goes to the next token; false at the end. */
  next(): boolean {
    if (this.end >= this.#until) return false;
    const text = this.#text;
    this.start = this.end;
    this.isWord = isWordAt(text, this.start);
    if (!this.isWord) {
      this.end += text.codePointAt(this.start)! > 0xffff ? 2 : 1;
      return true;
    }
    let end = this.start + 1;
    while (end < this.#until) {
      if (isWordAt(text, end)) end++;
      else if (this.#joinsAt(end)) end += 2;
      else break;
    }
    this.end = end;
    return true;
  }

  /**
   * The token as a key for comparing. Another character after a run differs from the same character elsewhere, so that
   * a sequence that begins with it is not found where a letter touches it.
   */
  key(): string {
    const text = this.#text.slice(this.start, this.end);
    return !this.isWord && isWordAt(this.#text, this.start - 1) ? `\u0001${text}` : text;
  }

  #joinsAt(index: number): boolean {
    const sign = this.#text[index]!;
    return (
      joins.includes(sign) &&
      sign !== this.#separator &&
      isDigitAt(this.#text, index - 1) &&
      index + 1 < this.#until &&
      isDigitAt(this.#text, index + 1)
    );
  }
}
