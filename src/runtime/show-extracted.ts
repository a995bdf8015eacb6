import { unprocessable } from '../lib/errors.ts';
import { fence } from '../lib/fence.ts';

/** Limit of an extraction that a model is shown, in characters of JSON. */
const shownCharacters = 40_000;

interface Extracted {
  data: object;
  valid: boolean;
  fields: Record<
    string,
    { confidence: string; citations: readonly { page: number; line: number; text: string }[] }
  >;
  warnings: readonly { code: string; path: string | null; message: string }[];
}

/** Returns the first place of each value, with its line or without. */
const placesOf = (fields: Extracted['fields'], withText: boolean) =>
  Object.fromEntries(
    Object.entries(fields).map(
      ([
        pointer,
        {
          confidence,
          citations: [first],
        },
      ]) => [
        pointer,
        {
          confidence,
          ...(first && { page: first.page, line: first.line, ...(withText && { text: first.text }) }),
        },
      ],
    ),
  );

const unsure = (fields: Extracted['fields']): Extracted['fields'] =>
  Object.fromEntries(Object.entries(fields).filter(([, { confidence }]) => confidence !== 'high'));

/**
 * Returns extracted data for a model. If it is too long, the lines are left out first, then the places of values that
 * are sure; data is never cut. Throws 422 if the data alone is too long.
 */
export const showExtracted = ({ data, valid, fields, warnings }: Extracted): string => {
  const forms = [
    { data, valid, fields: placesOf(fields, true), warnings },
    { data, valid, fields: placesOf(fields, false), warnings },
    { data, valid, fields: placesOf(unsure(fields), false), note: 'Other values are sure.' },
    { data, valid, note: 'There are too many values to say how sure each is.' },
  ];
  const text = forms.map((form) => JSON.stringify(form)).find(({ length }) => length <= shownCharacters);
  if (text !== undefined) return fence(text);
  throw unprocessable([{ path: 'schema', message: 'the data is too long to be shown; ask for less of it' }]);
};
