import { CronError, parseCron } from './cron.ts';
import { fields } from './fields.ts';
import { example, type RefusedItem } from './refusals.ts';
import { zoneNames } from './time-zones.ts';
import { ownSpelling } from './zones.ts';

/** Each round fixes one fault. */
const mostRounds = 10;

const refusalOf = (expression: string): CronError | null => {
  try {
    parseCron(expression);
    return null;
  } catch (error) {
    if (error instanceof CronError) return error;
    throw error;
  }
};

/** Returns the text that a refusal quotes and the one to write instead; null if it only gives an example or a rule. */
const adviceOf = ({ message }: CronError): { quoted: string; instead: string } | null => {
  const instead = /write `([^`]+)`/.exec(message)?.[1];
  return instead === undefined ? null : { quoted: /`([^`]+)`/.exec(message)![1]!, instead };
};

/** With ASCII hyphens and spaces instead of those that look like them. */
const inAscii = (expression: string): string =>
  expression
    .replaceAll(/[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]/g, '-')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** An expression with `part` in the field `index`, and nothing else that could be refused. */
const alone = (part: string, index: number): string =>
  fields.map((_, k) => (k === index ? part : '*')).join(' ');

/** `item` of the field with what is quoted of it replaced, fault by fault; null if that does not make it right. */
const fixedItem = (item: string, index: number): string | null => {
  let current = item;
  for (let round = 0; round < mostRounds; round++) {
    const refusal = refusalOf(alone(current, index));
    if (refusal === null) return current;
    const advice = adviceOf(refusal);
    if (!advice || current === '' || !current.includes(advice.quoted)) return null;
    // A list of values stands for the whole item, its step too.
    current = advice.instead.includes(',') ? advice.instead : current.replace(advice.quoted, advice.instead);
  }
  return null;
};

/** `expression` with its refused item fixed, replaced, or without it; null if no one can say how. */
const fixed = (
  expression: string,
  { item, field }: RefusedItem,
  { instead }: { instead: string },
): string | null => {
  const words = expression.split(' ');
  const index = fields.indexOf(field as (typeof fields)[number]);
  const withWord = (word: string) => words.map((old, k) => (k === index ? word : old)).join(' ');
  const isAccepted = refusalOf(alone(instead, index)) === null;
  // For an empty item the advice is the field without it.
  if (item === '') return isAccepted ? withWord(instead) : null;
  const other = fixedItem(item, index) ?? (isAccepted ? instead : null);
  if (other === null) return null;
  const items = words[index]!.split(',');
  return withWord(items.map((each) => (each === item ? other : each)).join(','));
};

/**
 * Returns the expression that was probably meant by one that is refused: what its refusals say to write instead, one
 * after the other. Null if they do not lead to an expression that is accepted.
 */
export const suggestExpression = (expression: string): string | null => {
  if (refusalOf(expression) === null) return null;
  let current = inAscii(expression);
  for (let round = 0; round < mostRounds; round++) {
    const refusal = refusalOf(current);
    if (refusal === null) return current;
    const advice = adviceOf(refusal);
    // An example is not what was meant, unless it was written.
    if (!advice || (advice.instead === example && !current.includes(example))) return null;
    const next = refusal.at ? fixed(current, refusal.at, advice) : advice.instead;
    if (next === null || next === current) return null;
    current = next;
  }
  return null;
};

/** Returns the zone that was probably meant by a name that is refused: in another case, or its city alone. */
export const suggestZone = (name: string): string | null => {
  const own = ownSpelling(name);
  if (own) return own;
  const city = name.trim().toLowerCase().replaceAll(' ', '_');
  const found = zoneNames.filter((zone) => zone.toLowerCase().split('/').at(-1) === city);
  return found.length === 1 ? found[0]! : null;
};
