import { isIP } from 'node:net';
import { credentialsFault, maxUrlLength, urlFault } from '../lib/http-url.ts';

/** The variables that `${NAME}` may name, with their values; undefined where unset. */
export type Placeholders = ReadonlyMap<string, string | undefined>;

const placeholder = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** Values that a placeholder may have, to check whether the url can be valid: a scheme, an origin, a part, IPv6. */
const samples = ['https', 'https://h', '1', '::1'];

/**
 * Like `urlFault`, for a url that may contain `${NAME}` anywhere: it must be an address for some value, and contain
 * credentials for none.
 */
export const templateFault = (url: string): string | null => {
  if (url.length > maxUrlLength) return `must have at most ${maxUrlLength.toLocaleString('en')} characters`;
  if (url.replace(placeholder, '').includes('${')) {
    return `has a placeholder that is not of the form \${NAME}, with letters, digits and _ in the name`;
  }
  const faults = samples.map((sample) => urlFault(url.replace(placeholder, () => sample)));
  if (faults.includes(credentialsFault)) return credentialsFault;
  return faults.includes(null) ? null : faults.at(-1)!;
};

/**
 * Returns `url` with its placeholders replaced, or why that is impossible. Only permitted names are looked up, values
 * are not expanded again, and the reason contains no value.
 */
export const resolveUrl = (
  url: string,
  placeholders: Placeholders,
): { url: string } | { problem: string } => {
  for (const [, name] of url.matchAll(placeholder)) {
    if (!placeholders.has(name!)) {
      return { problem: `The url names \${${name}}, which URL_PLACEHOLDERS does not permit.` };
    }
    if (!placeholders.get(name!)) return { problem: `The url names \${${name}}, which is not set.` };
  }
  const resolved = url.replace(placeholder, (_, name: string) => placeholders.get(name)!);
  const fault = urlFault(resolved);
  return fault === null
    ? { url: resolved }
    : { problem: `With its placeholders replaced, the url ${fault}.` };
};

/** Returns the host of a url if it is an IP address, which can be checked without a look-up; null for a name. */
export const literalHost = (url: string): string | null => {
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(host) === 0 ? null : host;
};
