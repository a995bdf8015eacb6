import { sha256 } from '../lib/crypto.ts';

/** The longest name of a tool that every model accepts, in characters. */
const maxToolName = 64;
const maxPrefix = 20;

export const prefixPattern = /^[a-z][a-z0-9_]{0,19}$/;

/** The prefix that a server of this name gets unless it is given. */
export const defaultPrefix = (name: string): string => {
  const words = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[_0-9]+/, '')
    .slice(0, maxPrefix)
    .replace(/_+$/, '');
  return words === '' ? 'tools' : words;
};

/** Returns `prefix`, or with a number at its end if it is among `taken`. */
export const freePrefix = (prefix: string, taken: ReadonlySet<string>): string => {
  for (let n = 1; ; n++) {
    const suffix = n === 1 ? '' : `_${n}`;
    const candidate = prefix.slice(0, maxPrefix - suffix.length) + suffix;
    if (!taken.has(candidate)) return candidate;
  }
};

const withHash = (name: string, hashed: string): string =>
  `${name.slice(0, maxToolName - 9)}_${sha256(hashed).slice(0, 8)}`;

/** The name under which models call the tool `name` of the server with `prefix`: letters, digits, `_` and `-`. */
export const toolNameOf = (prefix: string, name: string): string => {
  const whole = `${prefix}__${name}`;
  const safe = whole.replace(/[^A-Za-z0-9_-]/gu, '_');
  return safe.length <= maxToolName ? safe : withHash(safe, whole);
};

/** The name instead of `toolNameOf` for a tool whose name another tool has already: `a.b` next to `a_b`. */
export const otherToolNameOf = (prefix: string, name: string): string => {
  const safe = toolNameOf(prefix, name);
  return withHash(safe, `${prefix}\n${name}`);
};
