/** JSON Pointers (RFC 6901). */

/** Returns a key as a token of a pointer. */
export const pointerToken = (key: string | number): string =>
  String(key).replaceAll('~', '~0').replaceAll('/', '~1');

/** Returns the key that a token names. */
export const keyOfToken = (token: string): string => token.replaceAll('~1', '/').replaceAll('~0', '~');

/** Returns the tokens of a pointer; null if it is malformed. `''` is the whole value: no tokens. */
export const pointerTokens = (pointer: string): string[] | null => {
  if (pointer === '') return [];
  if (!pointer.startsWith('/') || /~(?![01])/.test(pointer)) return null;
  return pointer.slice(1).split('/').map(keyOfToken);
};

/** The index of an element (section 4); `-` names the element after the last. */
const arrayIndex = /^(?:0|[1-9]\d*)$/;

/** Returns the value that the tokens lead to, through own properties only; undefined if there is none. */
export const valueAtTokens = (value: unknown, tokens: readonly string[]): unknown => {
  let at = value;
  for (const token of tokens) {
    if (typeof at !== 'object' || at === null) return undefined;
    if (Array.isArray(at) && !arrayIndex.test(token)) return undefined;
    at = Object.hasOwn(at, token) ? (at as Record<string, unknown>)[token] : undefined;
  }
  return at;
};
