import { z } from 'zod';
import { type AgentFrames, frameName, type QueryResult } from '../data-frames/index.ts';
import type { Database } from '../database/index.ts';
import { fileCalls } from '../files/index.ts';
import { fence } from '../lib/fence.ts';
import { mostShownRows, orRefusal, showRows } from '../lib/tool-results.ts';
import { define, type Tool, type ToolContext } from './tools.ts';

/** Number of files that a list shows: more than a conversation has by default. */
const shownFiles = 200;

export interface DataTools {
  db: Database;
  frames: AgentFrames;
}

const showResult = ({ answer, saved, statement }: QueryResult): string => {
  const kept = saved
    ? `The result is kept as the data frame ${saved.name} with ${saved.row_count} rows.`
    : 'The result was not kept; `save_as` keeps it.';
  return `${kept}\n${showRows(answer, statement.sql)}`;
};

const callerOf = ({ owner, filesOf, agentId, signal }: ToolContext) => ({ owner, filesOf, agentId, signal });

const name = z.string().regex(frameName, 'must begin with a letter and have only a-z, 0-9 and _');

/** The tools for the files and data frames of the conversation or Work Item that an agent works on. */
export const dataTools = ({ db, frames }: DataTools): readonly Tool[] => [
  define(
    { name: 'list_files', description: 'List the files of this conversation or Work Item.' },
    z.object({}),
    async (_args, { owner, filesOf = owner }) => {
      const files = await db.run((executor) =>
        fileCalls.list(executor, filesOf, { limit: shownFiles - 1, next: null }),
      );
      const shown = files.map(({ name, content_type, size_bytes }) => ({ name, content_type, size_bytes }));
      return { text: fence(JSON.stringify(shown)) };
    },
  ),
  define(
    {
      name: 'make_data_frame',
      description:
        'Make a table of a CSV, TSV, JSON, NDJSON, XLSX or Parquet file, to query it with `query_data_frames`. A data frame of the same name is replaced.',
    },
    z.object({
      file: z.string().describe('The name of the file.'),
      sheet: z.string().optional().describe('The sheet of a spreadsheet; the first if it is left out.'),
      name: name.describe('The name of the table: a-z, 0-9 and _.'),
    }),
    ({ file, sheet = null, name }, context) =>
      orRefusal(async () => {
        const frame = await frames.make(callerOf(context), { file, sheet, name });
        const { columns, row_count, truncated, warnings } = frame;
        return fence(JSON.stringify({ name: frame.name, columns, row_count, truncated, warnings }));
      }),
  ),
  define(
    {
      name: 'list_data_frames',
      description: 'List the data frames of this conversation or Work Item, with their columns.',
    },
    z.object({}),
    async (_args, context) => {
      const found = await frames.list(callerOf(context));
      const shown = found.map(({ name, description, columns, row_count }) => ({
        name,
        description,
        columns,
        row_count,
      }));
      return { text: fence(JSON.stringify(shown)) };
    },
  ),
  define(
    {
      name: 'query_data_frames',
      description:
        "Run one SELECT in PostgreSQL's grammar over the data frames, which are its tables. At most 50 rows are shown; `save_as` keeps the whole result as a data frame.",
    },
    z.object({
      sql: z.string().min(1).max(50_000),
      save_as: name.optional().describe('A data frame of this name is replaced.'),
    }),
    ({ sql, save_as = null }, context) =>
      orRefusal(async () =>
        showResult(await frames.query(callerOf(context), { sql, saveAs: save_as, limit: mostShownRows })),
      ),
  ),
];
