import { isObject } from '../lib/objects.ts';
import { matchesPattern, type Path } from './paths.ts';

/** References to secrets (`${secret:NAME}`) in a document, and the names that an export gives them. */

const reference = /\$\{secret:([^}]*)\}/;
const references = /\$\{secret:([^}]*)\}/g;
const nameRule = /^[A-Za-z0-9_]{1,200}$/;
/** `$${secret:` stands for `${secret:` in text that is no reference, and so on. */
const escaped = /\$(\$+\{secret:)/g;
const marks = /\$+\{secret:/g;

/** Escapes text that merely looks like a reference. */
export const escapeText = (text: string): string => text.replaceAll(marks, (mark) => `$${mark}`);

export const unescapeText = (text: string): string => text.replaceAll(escaped, '$1');

const withoutEscaped = (text: string): string => text.replaceAll(/\$\$+\{secret:/g, '');

export const hasReference = (text: string): boolean => reference.test(withoutEscaped(text));

/** The names that a text refers to, and whether each can be a name. */
export const namesIn = (text: string): { name: string; ok: boolean }[] =>
  [...withoutEscaped(text).matchAll(references)].map(([, name]) => ({
    name: name!,
    ok: nameRule.test(name!),
  }));

/** The text with its references replaced. A name without a value in `values` stays as it is. */
export const withValues = (text: string, values: ReadonlyMap<string, string>): string => {
  const parts = text.split(/(\$+\{secret:[^}]*\})/);
  return parts
    .map((part) => {
      const name = /^\$\{secret:([^}]*)\}$/.exec(part)?.[1];
      return name === undefined ? unescapeText(part) : (values.get(name) ?? part);
    })
    .join('');
};

/** Letters of the base alphabet, digits and `_`, in capitals. */
const wordOf = (text: string): string =>
  text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '');

/** Gives secrets their names: KIND_NAME_FIELD; the second of one name gets `_2`. */
export class SecretNames {
  readonly #taken = new Set<string>();

  /** A reference to the secret at `path` of the thing `name`. */
  referTo(kind: string, name: string, path: Path): string {
    // `settings` and `configuration` say nothing: every secret of their kinds is in them.
    const field = path
      .filter((key) => key !== 'settings' && key !== 'configuration')
      .map((key) => (typeof key === 'number' ? String(key + 1) : key));
    const words = [kind, name, ...field].map(wordOf).filter((word) => word !== '');
    const start = words.join('_').slice(0, 190);
    let found = start;
    for (let n = 2; this.#taken.has(found); n++) found = `${start}_${n}`;
    this.#taken.add(found);
    return `\${secret:${found}}`;
  }
}

export const isSecret = (patterns: readonly string[], path: Path): boolean =>
  patterns.some((pattern) => matchesPattern(pattern, path));

/** Secrets that only a text of a special form passes for. */
const placeholders = new Map<unknown, string>([
  ['secret', `whsec_${Buffer.alloc(32).toString('base64')}`],
  [
    'credentials',
    '-----BEGIN NATS USER JWT-----\n------END NATS USER JWT------\n-----BEGIN USER NKEY SEED-----\n------END USER NKEY SEED------',
  ],
  ['client_key', '-----BEGIN PRIVATE KEY-----'],
  ['url', 'https://not-known-yet.invalid/'],
  ['smtp_url', 'smtp://not-known-yet.invalid'],
  ['routing_key', 'a-secret-that-is-not-known-yet00'],
]);

/** Stands for a secret that is not known yet, so that the rest can be checked. */
export const placeholderFor = (path: Path): string =>
  placeholders.get(path.at(-1)) ?? 'a-secret-that-is-not-known-yet';

/** `value` with what `change` returns in place of each secret. */
export const mapSecrets = (
  value: unknown,
  patterns: readonly string[],
  change: (secret: string, path: Path) => unknown,
  path: Path = [],
): unknown => {
  if (typeof value === 'string') return isSecret(patterns, path) ? change(value, path) : value;
  if (Array.isArray(value)) return value.map((one, i) => mapSecrets(one, patterns, change, [...path, i]));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key, mapSecrets(field, patterns, change, [...path, key])]),
  );
};
