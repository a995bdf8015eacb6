/** Text of others inside our sentences. `console/src/text/isolate.ts` is the same for the application, which imports nothing of the server. */

/** Hebrew, Arabic and their neighbors, and the marks that turn text around: what can move the words next to it. */
const turning =
  /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** `text` with each isolate that it opens closed, and no end of one that it did not open. */
const balanced = (text: string): string => {
  let open = 0;
  let shown = '';
  for (const character of text) {
    if (character >= '\u2066' && character <= '\u2068') open += 1;
    else if (character === '\u2069' && --open < 0) {
      open = 0;
      continue;
    }
    shown += character;
  }
  return shown + '\u2069'.repeat(open);
};

/**
 * `text`, a name or what a person wrote, for a place inside a sentence: it keeps its own direction, and an override in it
 * ends with it (Unicode Standard Annex 9, isolates). Text without such characters is returned as it is.
 */
export const isolate = (text: string): string =>
  turning.test(text) ? `\u2068${balanced(text)}\u2069` : text;

/** `text` in quotation marks as the end of a sentence, with a full stop unless it has an end of its own. */
export const quotedEnd = (text: string): string => `“${isolate(text)}”${/[.!?…]\s*$/.test(text) ? '' : '.'}`;

/** A message as a sentence: with a capital letter and a full stop. */
export const sentence = (text: string): string => {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
};

/** `1 span`, `2 spans`, `10,000 or more spans` if the count ended at `most`. */
export const counted = (n: number, one: string, most = Number.POSITIVE_INFINITY): string =>
  `${n.toLocaleString('en')}${n >= most ? ' or more' : ''} ${n === 1 ? one : `${one}s`}`;
