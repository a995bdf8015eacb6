import type { Answer, RunOptions } from '../semantic-data-models/index.ts';
import { queryFailure } from './failures.ts';
import { checkTarget, keepFrame, type Target } from './keep.ts';
import { type FrameParts, takeOut } from './parts.ts';
import { answerLimits } from './query.ts';
import { RowSpool } from './row-spool.ts';
import type { DataFrame } from './store.ts';

/** The most seconds for making a frame of rows that are there. */
const makeSeconds = 60;

/** `query` asks for all rows that a frame may have, and hands them over in batches. */
type Taking = Required<Pick<RunOptions, 'limit' | 'onRows'>>;

/**
 * Keeps the rows of the answer that `query` gives as a frame. They wait in a file: a child process that took them as
 * they come would be held while a foreign database is spoken to, which for SQLite needs one too. A query that fails or is
 * cancelled leaves nothing. Call it outside any transaction.
 */
export const keepAnswer = async (
  parts: FrameParts,
  target: Target,
  source: Record<string, unknown>,
  query: (taking: Taking) => Promise<Answer>,
  signal: AbortSignal,
): Promise<{ answer: Answer; frame: DataFrame }> => {
  const { db, sandbox, settings, folder } = parts;
  await db.tx((tx) => checkTarget(tx, target));
  await using rows = await RowSpool.create(folder);
  const answer = await query({
    limit: settings.get().MAX_DATA_FRAME_ROWS,
    onRows: (batch) => rows.add(batch),
  });
  const output = await takeOut(parts, 'frame.parquet');
  try {
    const columns = answer.columns.map(({ name, datatype }) => ({
      name,
      datatype: datatype === 'Opaque' ? ('String' as const) : datatype,
    }));
    const { path } = rows;
    const made = await sandbox.run(
      'frameOfRows',
      { columns, maxCharacters: answerLimits.maxCharacters },
      { files: { rows: path }, limits: { seconds: makeSeconds }, signal, collect: output.collect },
    );
    const described = made.columns.map((column, i) => ({
      ...column,
      description: answer.columns[i]!.description ?? answer.columns[i]!.label,
    }));
    const warnings = answer.warnings.map((warning) => ({ ...warning, column: null }));
    const frame = await keepFrame(
      parts,
      target,
      { ...made, columns: described, truncated: answer.truncated, warnings: [...warnings, ...made.warnings] },
      output.path,
      source,
    );
    return { answer, frame };
  } catch (error) {
    await output.drop();
    throw queryFailure(error, 'source');
  }
};
