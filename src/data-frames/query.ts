import { type Printed, parseSelect, print, resolve, type Table } from '@agent-platform/sql';
import type { OwnerIds } from '../files/index.ts';
import type { Jobs } from '../sandbox/index.ts';
import { queryFailure } from './failures.ts';
import { checkTarget, keepFrame, type Target } from './keep.ts';
import { type FrameParts, fileOf, filesOf, takeOut } from './parts.ts';
import { type DataFrame, listAllFrames } from './store.ts';

/** An answer ends after this many bytes of its rows as JSON, and its texts after this many characters. */
export const answerLimits = { maxBytes: 10 * 1024 * 1024, maxCharacters: 10_000 };

/** Who asks: the caller of the API, or an agent that works for that caller. The two share no process. */
export const byCaller = 'caller';

/** The result of a query, with the exact text of the statement that ran. */
export interface QueryResult {
  statement: Printed;
  answer: Jobs['frameQuery']['output'];
  /** The frame that the result was saved as. */
  saved: DataFrame | null;
  durationMs: number;
}

const tableOf = ({ name, columns }: DataFrame): Table => ({
  name,
  source: { schema: 'main', table: name },
  columns,
});

let isRehearsed = false;

/**
 * Parses and prints a statement, once in a process: the first one takes 20 ms longer than the next, because V8 compiles
 * what has not run yet.
 */
export const rehearse = (): void => {
  if (isRehearsed) return;
  isRehearsed = true;
  const columns = [
    { name: 'a', datatype: 'String' },
    { name: 'b', datatype: 'Decimal' },
  ] as const;
  const made: Table = { name: 'made', source: { schema: 'main', table: 'made' }, columns };
  const sql = `select a, sum(b) as total, count(*) as n from made where b > 1 group by a order by total desc`;
  print(resolve(parseSelect(sql), [made]), 'duckdb', { limit: 1 });
};

/**
 * Runs SQL over the frames of the owner. What runs is printed from the checked tree; the text of the caller is never
 * sent. With `target` the whole result is saved as a frame, of which `limit` rows are returned.
 */
export const queryFrames = async (
  parts: FrameParts,
  owner: OwnerIds,
  {
    sql,
    limit,
    path,
    target,
    by = byCaller,
  }: { sql: string; limit: number; path: string; target: Target | null; by?: string },
  signal: AbortSignal,
): Promise<QueryResult> => {
  const { db, sandbox, settings } = parts;
  const beganAt = performance.now();
  const { MAX_DATA_FRAME_ROWS: maxRows, DATA_QUERY_TIMEOUT_SECONDS: seconds } = settings.get();
  const frames = await db.run((executor) => listAllFrames(executor, owner));
  let statement: Printed;
  let used: DataFrame[];
  try {
    const resolved = resolve(parseSelect(sql), frames.map(tableOf));
    used = frames.filter(({ name }) => resolved.tables.includes(name));
    // One row more, to see that there are more.
    statement = print(resolved, 'duckdb', { limit: Math.max(limit, target ? maxRows : 0) + 1 });
  } catch (error) {
    throw queryFailure(error, path);
  }
  if (target) await db.tx((tx) => checkTarget(tx, target));
  const output = target && (await takeOut(parts, 'frame.parquet'));
  try {
    const answer = await sandbox.run(
      'frameQuery',
      {
        sql: statement.sql,
        parameters: statement.parameters,
        tables: Object.fromEntries(used.map((frame) => [frame.name, fileOf(frame)])),
        limit,
        saveRows: target ? maxRows : null,
        ...answerLimits,
      },
      {
        files: filesOf(parts, used),
        limits: { seconds },
        signal,
        ...(output ? { collect: output.collect } : { keepFor: by }),
      },
    );
    const saved =
      target && output && answer.saved
        ? await keepFrame(parts, target, answer.saved, output.path, { kind: 'sql', sql })
        : null;
    return { statement, answer, saved, durationMs: Math.round(performance.now() - beganAt) };
  } catch (error) {
    await output?.drop();
    throw queryFailure(error, path);
  }
};
