import { type Field, fields, readStep, readValue } from './fields.ts';

/** An item that its field does not accept, and the whole text of that field. */
export interface RefusedItem {
  item: string;
  field: Field;
  text: string;
}

/** The most characters that an expression may have. */
export const maxLength = 1_000;

/** An expression that messages show. */
export const example = '0 9 * * MON-FRI';
const fiveNames = 'five fields (minute, hour, day of month, month, day of week)';

const nicknames: Record<string, string> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
  '@every_minute': '* * * * *',
};

/** Extensions of cron by some schedulers, and the text to write instead. */
const extensions: Record<string, string> = {
  '?': '`?` is not supported: write `*`',
  '#': '`#` (the nth weekday of a month) is not supported: write the weekday alone, such as `MON`',
  '~': '`~` (a random value) is not supported: write a fixed number',
  '%': '`%` is not supported: put the text for the Work Item in the message',
  L: '`L` (the last day) is not supported: write a day that every month has, such as `28`',
  W: '`W` (the nearest weekday) is not supported: write `MON-FRI` as day of week',
  H: '`H` (a hashed value) is not supported: write a fixed number',
};

/** `text` in back quotes, shortened if it is long. Only for text without control characters. */
const quote = (text: string): string => `\`${text.length > 60 ? `${text.slice(0, 60)}…` : text}\``;

/** `: write …`, or nothing if the suggestion is too long to be of use. */
const instead = (suggestion: string): string => (suggestion.length > 200 ? '' : `: write \`${suggestion}\``);

const showCharacter = (character: string): string => {
  const code = character.codePointAt(0)!;
  const name = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  return code > 32 && code < 127 ? `\`${character}\` (${name})` : name;
};

const characterRefusal = (expression: string): string | null => {
  // In code-point mode half a surrogate pair is a character of its own.
  const other = /[^ \t0-9A-Za-z*,/\-#?~%]/u.exec(expression);
  if (other === null) return null;
  const [character] = other;
  let hint = `write only ASCII digits, names, \`*\`, \`,\`, \`-\`, \`/\` and spaces, such as \`${example}\``;
  if (/[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]/.test(character)) hint = 'write the ASCII `-`';
  else if (/\s/.test(character)) hint = 'write a space, or leave it out at the ends';
  return `The character ${showCharacter(character)} is not allowed: ${hint}.`;
};

const fieldCountRefusal = (words: readonly string[], accepts: (expression: string) => boolean): string => {
  const count = `The expression has ${words.length} field${words.length === 1 ? '' : 's'}`;
  if (words.length < 5) {
    const missing = fields.slice(words.length).map((field) => field.name);
    return `${count}: write ${fiveNames}, such as \`${example}\`; missing: ${missing.join(', ')}.`;
  }
  const withYear = words.length > 6 || /[0-9]{4}/.test(words.at(-1)!);
  const shorter = (words.length === 6 && withYear ? words.slice(0, 5) : words.slice(1, 6)).join(' ');
  const suggestion = words.length <= 7 && accepts(shorter) ? instead(shorter) : `: write ${fiveNames}`;
  return `${count}, but there are only five, without seconds and years${suggestion}.`;
};

/** Returns the reason why the expression as a whole is refused, or null if the fault lies in one of five fields. */
const shapeRefusal = (expression: string, accepts: (expression: string) => boolean): string | null => {
  if (expression.length > maxLength && [...expression].length > maxLength) {
    return 'The expression is longer than 1,000 characters: use ranges and steps, or several schedules.';
  }
  const words = expression.split(/[ \t]+/).filter((each) => each !== '');
  const [word] = words;
  if (word === undefined) return `The expression is empty: write ${fiveNames}, such as \`${example}\`.`;
  const text = words.join(' ');
  if (word.startsWith('@')) {
    const same = Object.hasOwn(nicknames, text.toLowerCase()) ? nicknames[text.toLowerCase()] : undefined;
    if (same) return `Nicknames such as \`${text}\` are not supported: write \`${same}\`.`;
    return `Nicknames that begin with \`@\` are not supported: write ${fiveNames}, such as \`${example}\`.`;
  }
  if (/^(CRON_)?TZ=/i.test(word)) {
    const rest = words.slice(1).join(' ');
    const without = accepts(rest) ? rest : example;
    return `A time zone is not part of the expression: put it in \`timezone\` and write \`${without}\`.`;
  }
  return characterRefusal(text) ?? (words.length === 5 ? null : fieldCountRefusal(words, accepts));
};

/** The extension that `item` uses, if any. */
const extensionOf = (item: string, field: Field): string | null => {
  for (const sign of ['?', '#', '~', '%']) if (item.includes(sign)) return extensions[sign]!;
  for (const token of item.toUpperCase().split(/[-/]/)) {
    const letter = /(?:LW|[LWH])$/.exec(token);
    if (letter === null) continue;
    const before = token.slice(0, letter.index);
    if (/^[0-9]{0,2}$/.test(before) || field.names.includes(before)) return extensions[letter[0].at(-1)!]!;
  }
  return null;
};

const limits = (field: Field): string => {
  const names = field.names.length > 0 ? ` or a name from ${field.names[0]} to ${field.names.at(-1)}` : '';
  return `write a number from ${field.min} to ${field.max}${names}`;
};

/** Returns the reason why `text` is not a value of `field`. */
const valueRefusal = (text: string, field: Field): string => {
  if (/^[0-9]+$/.test(text)) {
    const plain = text.replace(/^0+(?=[0-9])/, '');
    if (text.length > 2 && readValue(plain, field) !== undefined) {
      return `${quote(text)} has more than two digits: write \`${plain}\``;
    }
    return `${quote(text)} is out of range: ${limits(field)}`;
  }
  const abbreviation = text.slice(0, 3).toUpperCase();
  if (text.length > 3 && field.names.includes(abbreviation)) {
    return `${quote(text)} is not a name: write \`${abbreviation}\``;
  }
  const owner = fields.find((other) => other.names.includes(text.toUpperCase()));
  if (owner) return `${quote(text)} is a name of the field ${owner.name}: ${limits(field)}`;
  return `${quote(text)} is not a value: ${limits(field)}`;
};

const stepRefusal = (text: string, base: string, field: Field): string => {
  const plain = text.replace(/^0+(?=[0-9])/, '');
  if (text.length > 2 && readStep(plain, field)) {
    return `the step ${quote(text)} has more than two digits${instead(`${base}/${plain}`)}`;
  }
  if (/^0+$/.test(text)) return `a step of 0 never ends${instead(`${base}/1`)}, or a greater step`;
  if (/^[0-9]+$/.test(text)) return `the step ${quote(text)} is too great: write one from 1 to ${field.size}`;
  return `the step after \`/\` is not a number: write one from 1 to ${field.size}, such as ${quote(`${base}/2`)}`;
};

/** The values of the wrapping range `from-to`, written in a form that the grammar accepts. */
const unwrapped = (from: string, to: string, step: number, field: Field): string => {
  const first = readValue(from, field)!;
  const end = readValue(to, field)!;
  if (step === 1) {
    const head = first === field.max ? '' : `${from}-${field.max}`;
    // The head ends with Sunday as 7, so a tail would begin on Monday.
    const start = field.max > field.last && head !== '' ? field.min + 1 : field.min;
    const tail = end < start ? '' : end === start ? to : `${start}-${to}`;
    const edge = head === '' && field.max === field.last ? from : head;
    return [edge, tail].filter((part) => part !== '').join(',');
  }
  const values: number[] = [];
  const span = (end - first + field.size) % field.size;
  for (let k = 0; k <= span; k += step) values.push(((first - field.min + k) % field.size) + field.min);
  return values.join(',');
};

const rangeRefusal = (base: string, step: string | null, field: Field): string | null => {
  const bounds = base.split('-');
  if (bounds.length > 2) return `${quote(base)} is more than one range: separate ranges by commas`;
  const [from, to] = bounds as [string, string];
  if (from === '' || to === '') {
    return `the range ${quote(base)} lacks its ${from === '' ? 'beginning' : 'end'}: write \`${field.min}-${field.last}\` or the numbers meant`;
  }
  if (from === '*' || to === '*') return `${quote(base)} mixes \`*\` and a range: write \`*\` alone`;
  const first = readValue(from, field);
  const last = readValue(to, field);
  if (first === undefined) return valueRefusal(from, field);
  if (last === undefined) return valueRefusal(to, field);
  const stride = step === null ? 1 : readStep(step, field);
  if (first > last && stride !== undefined) {
    return `the range ${quote(base)} runs backwards${instead(unwrapped(from, to, stride, field))}`;
  }
  return null;
};

const itemRefusal = (item: string, field: Field, text: string): string => {
  if (item === '') {
    const items = text.split(',').filter((other) => other !== '');
    const whole = items.join(',');
    return `${quote(text)} has an empty item: write ${items.length > 0 ? `${quote(whole)} without it` : '`*` for every value'}`;
  }
  const extension = extensionOf(item, field);
  if (extension) return extension;
  const parts = item.split('/');
  if (parts.length > 2) return `${quote(item)} has more than one step: write one \`/\``;
  const base = parts[0]!;
  const step = parts.length === 2 ? parts[1]! : null;
  if (base === '')
    return `the step of ${quote(item)} has no range${instead(`*/${step && readStep(step, field) ? step : 2}`)}`;
  if (base !== '*') {
    if (base.includes('-')) {
      const refused = rangeRefusal(base, step, field);
      if (refused) return refused;
    } else {
      const value = readValue(base, field);
      if (value === undefined) return valueRefusal(base, field);
      const range = value > field.last ? base : `${base}-${field.last}`;
      const same = step !== null && readStep(step, field) && value <= field.last ? `${range}/${step}` : range;
      return `${quote(item)} has a step but no range: write \`${same}\``;
    }
  }
  return stepRefusal(step ?? '', base, field);
};

/**
 * Returns why `expression`, which the grammar does not accept, is refused and what to write instead: one sentence for
 * the client, in printable characters. `at` is the item at which parsing stopped. `accepts` is the grammar, so that no
 * suggestion is itself refused.
 */
export const refusal = (
  expression: string,
  accepts: (expression: string) => boolean,
  at: RefusedItem | null,
): string => {
  const shape = shapeRefusal(expression, accepts);
  if (shape !== null) return shape;
  if (at === null) return `The expression is not understood: write ${fiveNames}, such as \`${example}\`.`;
  return `${at.field.name[0]!.toUpperCase()}${at.field.name.slice(1)}: ${itemRefusal(at.item, at.field, at.text)}.`;
};
