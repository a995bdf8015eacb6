import { RE2JS } from 're2js';

/** The escapes that RE2 has under the same name, with the same meaning, as a regular expression with the flag `u`. */
const sameEscapes = 'dDwWbBtnrfv';
const syntaxCharacters = '^$\\.*+?()[]{}|/-';

/** The white space of ECMAScript, as the inside of a character class; RE2's `\s` is that of ASCII alone. */
const space = '\\t\\n\\v\\f\\r \\x{a0}\\x{feff}\\x{2028}\\x{2029}\\p{Zs}';

/**
 * Returns a regular expression (with the flag `u`, already known to be valid) in the syntax of RE2; null if it has something
 * that RE2 lacks, such as a look-ahead or a reference to a group, or that means something else there.
 */
const toRe2 = (pattern: string): string | null => {
  let out = '';
  let inClass = false;
  for (let i = 0; i < pattern.length; i++) {
    const c = pattern[i]!;
    const rest = pattern.slice(i, i + 12);
    if (c === '\\') {
      const next = pattern[i + 1]!;
      const escaped = /^\\(?:u\{([0-9a-f]+)\}|u([0-9a-f]{4})|x([0-9a-f]{2}))/i.exec(rest);
      const property = /^\\[pP]\{[A-Z][a-z]?\}/.exec(rest);
      if (escaped) {
        const code = Number.parseInt(escaped[1] ?? escaped[2] ?? escaped[3]!, 16);
        // Half of a pair: two escapes are one character.
        if (code >= 0xd800 && code <= 0xdfff) return null;
        out += `\\x{${code.toString(16)}}`;
        i += escaped[0].length - 1;
      } else if (property) {
        out += property[0];
        i += property[0].length - 1;
      } else if (next === 's') {
        out += inClass ? space : `[${space}]`;
        i++;
      } else if (next === 'S' && !inClass) {
        out += `[^${space}]`;
        i++;
      } else if (
        syntaxCharacters.includes(next) ||
        (sameEscapes.includes(next) && !(inClass && next === 'b'))
      ) {
        out += c + next;
        i++;
      } else return null;
    } else if (inClass) {
      if (c === ']') inClass = false;
      // It would begin a class of POSIX.
      out += c === '[' ? '\\[' : c;
    } else if (c === '[') {
      if (/^\[\^?\]/.test(rest)) return null;
      inClass = true;
      out += c;
    } else if (c === '.') out += '[^\\n\\r\\x{2028}\\x{2029}]';
    else if (c === '(' && rest[1] === '?') {
      const group = /^\(\?(?::|<[A-Za-z_]\w*>)/.exec(pattern.slice(i, i + 100));
      if (!group) return null;
      // The names do not matter, and need not be unique in ECMAScript.
      out += group[0] === '(?:' ? group[0] : '(';
      i += group[0].length - 1;
    } else out += c;
  }
  return out;
};

/**
 * Returns a regular expression with the flag `u` that takes time in proportion to the length of the text, with the same
 * result as that of the language; null if there is none. `pattern` is valid.
 */
export const linearRegExp = (pattern: string): { test(text: string): boolean; toString(): string } | null => {
  const translated = toRe2(pattern);
  if (translated === null) return null;
  try {
    const compiled = RE2JS.compile(translated);
    // By its text ajv knows whether it has an expression already.
    return { test: (text) => compiled.test(text), toString: () => `linear /${pattern}/u` };
  } catch {
    // Such as a repetition of more than 1,000 times.
    return null;
  }
};
