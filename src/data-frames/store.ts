import { type Executor, json, type Page, sql, type Tx } from '../database/index.ts';
import { type OwnerIds, ownedBy } from '../files/index.ts';
import type { FrameDatatype, Jobs } from '../sandbox/index.ts';

export interface FrameColumn {
  name: string;
  datatype: FrameDatatype;
  /** The description in the semantic data model. */
  description?: string | null;
}

interface FrameWarning {
  code: string;
  /** Null: it is about the whole frame. */
  column: string | null;
  message: string;
}

/** A data frame. Its rows are kept as a Parquet file under its id. */
export type DataFrame = OwnerIds & {
  id: string;
  name: string;
  description: string | null;
  source: Record<string, unknown>;
  columns: FrameColumn[];
  row_count: number;
  size_bytes: number;
  truncated: boolean;
  warnings: FrameWarning[];
  created_by: string;
  created_at: Date;
};

/** The first rows of a frame, as a page shows them: a list of values each. */
export type FrameHead = Jobs['frameRead']['output']['head'];

const columns = sql`id, conversation_id, work_item_id, case_id, trial_id, name, description, source, columns,
  row_count, size_bytes, truncated, warnings, created_by, created_at`;

/** Newest first, one more than `limit`. */
export const listFrames = async (
  executor: Executor,
  owner: OwnerIds,
  { limit, next }: Page,
): Promise<DataFrame[]> => {
  const { rows } = await sql<DataFrame>`select ${columns} from data_frames where ${ownedBy(owner)}
    and (${next}::uuid is null or id < ${next}::uuid) order by id desc limit ${limit + 1}`.execute(executor);
  return rows;
};

/** All frames of the owner, in the order of their names. */
export const listAllFrames = async (executor: Executor, owner: OwnerIds): Promise<DataFrame[]> => {
  const { rows } = await sql<DataFrame>`select ${columns} from data_frames where ${ownedBy(owner)}
    order by name`.execute(executor);
  return rows;
};

export const findFrame = async (
  executor: Executor,
  owner: OwnerIds,
  { id, name }: { id: string | null; name: string | null },
): Promise<DataFrame | undefined> => {
  const { rows } = await sql<DataFrame>`select ${columns} from data_frames where ${ownedBy(owner)}
    and (id = ${id}::uuid or name = ${name}::text)`.execute(executor);
  return rows[0];
};

/** The first rows of a frame; null if they were not kept. */
export const findHead = async (executor: Executor, id: string): Promise<FrameHead | null> => {
  const { rows } = await sql<{ head: string | null }>`select head from data_frames where id = ${id}`.execute(
    executor,
  );
  const head = rows[0]?.head ?? null;
  return head === null ? null : JSON.parse(head);
};

export const listFrameNames = async (executor: Executor, owner: OwnerIds): Promise<Set<string>> => {
  const { rows } = await sql<{ name: string }>`
    select name from data_frames where ${ownedBy(owner)}`.execute(executor);
  return new Set(rows.map(({ name }) => name));
};

/** `head`: null for a copy, whose first pages are read from its file. */
export const insertFrame = async (
  tx: Tx,
  frame: Omit<DataFrame, 'created_at'>,
  head: FrameHead | null = null,
): Promise<DataFrame> => {
  const { rows } = await sql<DataFrame>`
    insert into data_frames (id, conversation_id, work_item_id, case_id, trial_id, name, description, source, columns,
      row_count, size_bytes, truncated, warnings, created_by, head)
    values (${frame.id}, ${frame.conversation_id}, ${frame.work_item_id}, ${frame.case_id ?? null},
      ${frame.trial_id ?? null}, ${frame.name}, ${frame.description}, ${json(frame.source)}::jsonb,
      ${json(frame.columns)}::jsonb, ${frame.row_count}, ${frame.size_bytes}, ${frame.truncated}, ${json(frame.warnings)}::jsonb, ${frame.created_by},
      ${head === null ? null : JSON.stringify(head)})
    returning ${columns}`.execute(tx);
  return rows[0]!;
};

/** Returns whether it was there. A trigger has its bytes removed. */
export const deleteFrame = async (tx: Tx, owner: OwnerIds, name: string): Promise<boolean> => {
  const { rows } = await sql`delete from data_frames where name = ${name} and ${ownedBy(owner)}
    returning id`.execute(tx);
  return rows.length > 0;
};
