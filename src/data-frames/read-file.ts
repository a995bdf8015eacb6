import { fileCalls, type StoredFile } from '../files/index.ts';
import { unprocessable } from '../lib/errors.ts';
import { isId } from '../lib/ids.ts';
import type { FrameDatatype, Jobs } from '../sandbox/index.ts';
import { readFailure } from './failures.ts';
import { checkTarget, keepFrame, type Target } from './keep.ts';
import { nameOfFile } from './names.ts';
import { type FrameParts, takeOut } from './parts.ts';
import { answerLimits, rehearse } from './query.ts';
import type { DataFrame } from './store.ts';

const readSeconds = 60;

export interface FileSource {
  kind: 'file';
  file_id: string;
  sheet: string | null;
  header: boolean;
  columns: Record<string, FrameDatatype>;
}

type FrameFormat = Jobs['frameRead']['input']['format'];

const byType: Record<string, FrameFormat> = {
  'text/csv': 'csv',
  'text/tab-separated-values': 'tsv',
  'application/json': 'json',
  'application/x-ndjson': 'ndjson',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'application/vnd.apache.parquet': 'parquet',
};
/** Files whose bytes are not of the format that their name says are read too, so that the error says why not. */
const byExtension: Record<string, FrameFormat> = {
  csv: 'csv',
  tsv: 'tsv',
  json: 'json',
  ndjson: 'ndjson',
  xlsx: 'xlsx',
  xls: 'xlsx',
  parquet: 'parquet',
};

const formatOf = ({ content_type, name }: StoredFile): FrameFormat => {
  const extension = name.split('.').at(-1)!.toLowerCase();
  const isUnclear = ['application/octet-stream', 'application/zip'].includes(content_type);
  const format = byType[content_type] ?? (isUnclear ? byExtension[extension] : undefined);
  if (format) return format;
  throw unprocessable(
    [{ path: 'source.file_id', message: `a data frame cannot be made of ${content_type}` }],
    { reason: 'unsupported' },
  );
};

/** Makes a frame of a file of the same owner. */
export const makeOfFile = async (
  parts: FrameParts,
  target: Target,
  source: FileSource,
  signal: AbortSignal,
): Promise<DataFrame> => {
  const { db, bytes, sandbox, settings } = parts;
  const { file_id } = source;
  const file = isId(file_id)
    ? await db.run((executor) => fileCalls.find(executor, target.owner, file_id))
    : undefined;
  if (!file) throw unprocessable([{ path: 'source.file_id', message: 'is not a file of this place' }]);
  const format = formatOf(file);
  const named = { ...target, like: nameOfFile(file.name) };
  await db.tx((tx) => checkTarget(tx, named));
  const output = await takeOut(parts, 'frame.parquet');
  try {
    const made = await sandbox.run(
      'frameRead',
      {
        format,
        sheet: source.sheet ?? undefined,
        header: source.header,
        columns: source.columns,
        maxRows: settings.get().MAX_DATA_FRAME_ROWS,
        maxCharacters: answerLimits.maxCharacters,
      },
      {
        files: { source: (path, by) => bytes.copy(file.id, path, by) },
        limits: { seconds: readSeconds },
        signal,
        collect: output.collect,
      },
    );
    const frame = await keepFrame(parts, named, made, output.path, { ...source, file_name: file.name });
    // It will be queried. After the answer, so that this takes no longer.
    setImmediate(rehearse);
    return frame;
  } catch (error) {
    await output.drop();
    throw readFailure(error);
  }
};
