import { canonicalJson } from '../../lib/canonical-json.ts';

/** Text of others in messages: it is data, and gets no chance to be anything else. */

/** Control characters, line and paragraph separators, and the marks that turn text around (Unicode Standard Annex 9). */
const forbidden = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Everything that is not seen: control, format, private and unassigned characters, and separators of lines. */
const unseen = /[\p{C}\u2028\u2029]/gu;

/** `text` on one line, with spaces in place of line feeds and tabs, and a replacement character for what turns text around. */
export const oneLine = (text: string): string =>
  text
    .replace(/[\s\u2028\u2029]+/g, ' ')
    .replace(forbidden, '\ufffd')
    .trim();

/** `text` with its line feeds. */
export const manyLines = (text: string): string =>
  text
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .split('\n')
    .map((line) => line.replaceAll('\t', '  ').replace(forbidden, '\ufffd'))
    .join('\n')
    .trim();

/** At most `most` characters of `text`, with an ellipsis if there are more. */
export const cut = (text: string, most: number): string => {
  const all = [...text];
  return all.length <= most ? text : `${all.slice(0, most - 1).join('')}…`;
};

const escaped = (character: string): string => {
  const units = [];
  for (let i = 0; i < character.length; i++) units.push(character.charCodeAt(i));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
};

/** `value` as JSON of several lines, in which every character that is not seen is escaped: what is shown is what is there. */
export const shownJson = (value: unknown): string =>
  (JSON.stringify(value, null, 2) ?? 'null')
    .split('\n')
    .map((line) => line.replace(unseen, escaped))
    .join('\n');

/** `value` as JSON of one line, cut. */
export const shortJson = (value: unknown, most: number): string =>
  cut((value === undefined ? 'nothing' : canonicalJson(value)).replace(unseen, escaped), most);
