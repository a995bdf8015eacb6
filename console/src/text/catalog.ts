import { isolate } from './isolate.ts';

/** The words of a feature: texts, and functions that make texts from values. */
type Words = { readonly [key: string]: string | ((...values: never[]) => string) | Words };

const accents: Record<string, string> = {
  a: 'á',
  e: 'é',
  i: 'í',
  o: 'ó',
  u: 'ú',
  A: 'Á',
  E: 'É',
  I: 'Í',
  O: 'Ó',
  U: 'Ú',
};

/** Returns `text` with accents and 40 % longer, so that a page shows what it would do in a longer language. */
export const toPseudo = (text: string): string =>
  text === ''
    ? text
    : `${text.replace(/\{\w+\}|[aeiouAEIOU]/g, (part) => accents[part] ?? part)}${'~'.repeat(Math.ceil(text.length * 0.4))}`;

/** Shows texts in the pseudo-locale: `localStorage.setItem('pseudo', '1')`, for tests. */
const pseudo = (() => {
  try {
    return globalThis.localStorage?.getItem('pseudo') === '1';
  } catch {
    return false;
  }
})();

const isolated = (value: unknown): unknown =>
  typeof value === 'string' ? isolate(value) : Array.isArray(value) ? value.map(isolated) : value;

const prepare = (words: Words): Words =>
  Object.fromEntries(
    Object.entries(words).map(([key, word]) => {
      if (typeof word === 'string') return [key, pseudo ? toPseudo(word) : word];
      if (typeof word !== 'function') return [key, prepare(word)];
      return [
        key,
        (...values: never[]) => {
          const text = word(...(values.map(isolated) as never[]));
          return pseudo ? toPseudo(text) : text;
        },
      ];
    }),
  );

/**
 * Declares the texts of a feature. They are what the page shows; JSX holds no text of its own. A value that is put into a
 * text, such as a name, never moves the words next to it. So a text that is stored and not shown is made elsewhere
 * (`copyName`).
 */
export const catalog = <const T extends Words>(words: T): T => prepare(words) as T;
