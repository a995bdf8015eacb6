import { isObject } from '../lib/objects.ts';
import { nestsDeeperThan } from '../lib/text.ts';

const maxNesting = 50;

/** The object in the text of a reply, which may stand in a code fence; undefined if there is none. */
export const objectIn = (
  text: string,
  parse: (json: string) => unknown = JSON.parse,
): Record<string, unknown> | undefined => {
  const json = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1);
  if (json === '' || nestsDeeperThan(json, maxNesting)) return undefined;
  try {
    const value: unknown = parse(json);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
};
