import { ApiError } from './errors.ts';
import { fence } from './fence.ts';

/** The result of a tool call, as the model sees it. */
export interface ShownResult {
  text: string;
  /** The call failed in a way that the model can react to. */
  isError?: boolean;
}

/** The most rows of a result that a model is shown, and the most bytes of them. */
export const mostShownRows = 50;
const mostShownBytes = 20 * 1024;

/** The fields that help a model to ask again. Some hold names in the data: they are shown as data. */
const hints = ['reason', 'suggestions', 'candidates', 'sheets'];

/** The text of a refusal for a model, with the hints that the error has. */
export const refusalText = ({ message, context }: ApiError): string => {
  const given = hints.filter((hint) => context[hint] !== undefined).map((hint) => [hint, context[hint]]);
  return given.length === 0 ? message : `${message}\n${fence(JSON.stringify(Object.fromEntries(given)))}`;
};

/**
 * The result of a tool whose call can be refused: the model is told why and can try again. What no one expected
 * (`internal_error`, and all that is no `ApiError`) is thrown on.
 */
export const orRefusal = async (call: () => Promise<string>): Promise<ShownResult> => {
  try {
    return { text: await call() };
  } catch (error) {
    if (!(error instanceof ApiError) || error.code === 'internal_error') throw error;
    return { text: refusalText(error), isError: true };
  }
};

interface Rows {
  columns: readonly { name: string; datatype: string }[];
  rows: readonly (readonly unknown[])[];
  /** There are more rows than these. */
  truncated: boolean;
}

/** The rows of a query for a model, as data: at most 50 and 20 KB of them. With `sql`, the statement that ran. */
export const showRows = ({ columns, rows, truncated }: Rows, sql?: string): string => {
  const shown: string[] = [];
  let bytes = 0;
  for (const row of rows.slice(0, mostShownRows)) {
    const text = JSON.stringify(row);
    bytes += Buffer.byteLength(text) + 1;
    if (bytes > mostShownBytes) break;
    shown.push(text);
  }
  const all = `${truncated ? 'more than ' : ''}${rows.length} rows`;
  const isCut = truncated || shown.length < rows.length;
  const head = { sql, columns: columns.map(({ name, datatype }) => ({ name, datatype })) };
  return [
    isCut ? `Only the first ${shown.length} of ${all} are shown.` : `${all}.`,
    fence([JSON.stringify(head), ...shown].join('\n')),
  ].join('\n');
};
