import type { z } from 'zod';
import type { FileDownload } from '../http/index.ts';
import { type Fault, unprocessable } from '../lib/errors.ts';
import type { Jobs } from '../sandbox/index.ts';
import { queryFailure } from './failures.ts';
import { followOutput } from './follow-output.ts';
import { type FrameParts, fileOf, filesOf } from './parts.ts';
import { answerLimits, byCaller } from './query.ts';
import type { contentQuery, rowsQuery } from './schemas.ts';
import { type DataFrame, type FrameColumn, findHead } from './store.ts';

const exportSeconds = 60;

const types = {
  csv: 'text/csv; charset=utf-8',
  json: 'application/json; charset=utf-8',
  ndjson: 'application/x-ndjson',
  parquet: 'application/vnd.apache.parquet',
};

const withDescription = (columns: readonly FrameColumn[], described = columns) => {
  const descriptions = new Map(described.map(({ name, description }) => [name, description]));
  return columns.map(({ name, datatype }) => ({
    name,
    datatype,
    description: descriptions.get(name) ?? null,
  }));
};

export const toFrameResponse = ({ columns, ...frame }: DataFrame) => ({
  ...frame,
  columns: withDescription(columns),
});

/** Throws 422 for names that are no columns of the frame. */
const checkColumns = (frame: DataFrame, path: string, names: readonly string[]): void => {
  const known = new Set(frame.columns.map(({ name }) => name));
  const faults = names
    .filter((name) => !known.has(name))
    .map((name): Fault => ({ path, message: `\`${name}\` is not a column of this data frame` }));
  if (faults.length > 0) throw unprocessable(faults.slice(0, 100));
};

/** The page, if it lies within the first rows, which are kept with the frame; else null. */
const pageOfHead = async (
  { db }: FrameParts,
  frame: DataFrame,
  { limit, offset, columns }: z.output<typeof rowsQuery>,
): Promise<Pick<Jobs['frameRows']['output'], 'columns' | 'rows'> | null> => {
  const head = await db.run((executor) => findHead(executor, frame.id));
  const end = Math.min(offset + limit, frame.row_count);
  if (head === null || end > head.length) return null;
  const rows = head.slice(offset, end);
  if (columns === null) return { columns: frame.columns, rows };
  const shown = columns.map((name) => frame.columns.findIndex((column) => column.name === name));
  return {
    columns: shown.map((index) => frame.columns[index]!),
    rows: rows.map((row) => shown.map((index) => row[index]!)),
  };
};

/** A page of the rows of a frame. It may be shorter than asked for: it ends after 10 MB. */
export const pageOfRows = async (
  parts: FrameParts,
  frame: DataFrame,
  query: z.output<typeof rowsQuery>,
  signal: AbortSignal,
) => {
  const { limit, offset, columns, order } = query;
  const keys = (order ?? []).map((key) => ({
    column: key.replace(/^-/, ''),
    descending: key.startsWith('-'),
  }));
  checkColumns(frame, 'columns', columns ?? []);
  checkColumns(
    frame,
    'order',
    keys.map(({ column }) => column),
  );
  let page = keys.length === 0 ? await pageOfHead(parts, frame, query) : null;
  const { sandbox, settings } = parts;
  try {
    page ??= await sandbox.run(
      'frameRows',
      { file: fileOf(frame), columns, order: keys, limit, offset, ...answerLimits },
      {
        files: filesOf(parts, [frame]),
        limits: { seconds: settings.get().DATA_QUERY_TIMEOUT_SECONDS },
        keepFor: byCaller,
        signal,
      },
    );
  } catch (error) {
    throw queryFailure(error, 'order');
  }
  const seen = offset + page.rows.length;
  return {
    columns: withDescription(page.columns, frame.columns),
    rows: page.rows,
    total_count: frame.row_count,
    next_offset: page.rows.length > 0 && seen < frame.row_count ? seen : null,
  };
};

/** The rows of a frame as a file, which is sent while it is written. */
export const contentOf = async (
  parts: FrameParts,
  frame: DataFrame,
  { format, spreadsheet_safe: spreadsheetSafe }: z.output<typeof contentQuery>,
  signal: AbortSignal,
): Promise<FileDownload> => {
  const { sandbox, bytes } = parts;
  const shown = {
    name: `${frame.name}.${format}`,
    contentType: types[format],
    // The rows of a frame never change.
    tag: `${frame.id}.${format}${spreadsheetSafe ? '.safe' : ''}`,
  };
  if (format === 'parquet') return { ...shown, size: frame.size_bytes, bytes: () => bytes.read(frame.id) };
  const written = followOutput(
    'content',
    (hooks) =>
      sandbox.run(
        'frameExport',
        { format, spreadsheetSafe },
        {
          files: { 'frame.parquet': (path, by) => bytes.copy(frame.id, path, by) },
          limits: { seconds: exportSeconds },
          ...hooks,
        },
      ),
    signal,
  );
  // A job that fails before it writes anything is an error in the response.
  const first = await written.next().catch((error) => {
    throw queryFailure(error, 'format');
  });
  const all = async function* () {
    if (first.done) return;
    yield first.value;
    yield* written;
  };
  return { ...shown, size: null, bytes: all, close: () => written.return() };
};
