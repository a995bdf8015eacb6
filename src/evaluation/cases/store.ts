import {
  type Executor,
  json,
  type Page,
  planEachTime,
  type RawBuilder,
  sql,
  type Tx,
} from '../../database/index.ts';
import type { SealedColumn, Vault } from '../../lib/crypto.ts';
import { newId } from '../../lib/ids.ts';
import { parseJson } from '../../lib/json.ts';
import { mapValues } from '../../lib/objects.ts';
import type { CaseContent, CaseInput } from './content.ts';

export interface CaseSource {
  work_item_id?: string;
  run_id?: string;
  agent_id: string;
  agent_version: number | null;
  status: string;
  error: { code: string; message: string } | null;
}

/** A case as lists read it. */
export interface ListedCase {
  id: string;
  dataset_id: string;
  name: string;
  input: CaseInput;
  expected: unknown;
  graders: CaseContent['graders'];
  tags: string[];
  enabled: boolean;
  has_tape: boolean;
  transcript_hash: string | null;
  source: CaseSource | null;
  revision: number;
  created_at: Date;
  updated_at: Date;
}

/** A case with its whole content. */
export type Case = ListedCase &
  Pick<CaseContent, 'tape' | 'made'> & {
    /** The row of its content, and what is sealed for it. */
    content_id: string;
    sealed: string | null;
  };

/** The stored fields of a case that someone gives. */
export type CaseValues = Pick<ListedCase, 'name' | 'input' | 'expected' | 'graders' | 'tags' | 'enabled'> &
  Pick<CaseContent, 'tape' | 'made' | 'replies'> & { transcript_hash: string | null };

const listed = sql`c.id, c.dataset_id, c.name, c.tags, c.enabled, c.has_tape, c.transcript_hash, c.source, c.revision,
  c.created_at, c.updated_at`;
/** As text: the driver would round large integers in a column of the type json. */
const listedContent = sql`k.message, k.payload::text, k.history::text, k.expected::text, k.graders::text`;
const wholeContent = sql`${listedContent}, k.tape::text, k.made::text, k.id as content_id, k.replies as sealed`;
const joined = sql`cases c join case_contents k on k.case_id = c.id and k.revision = c.revision`;

const jsonColumns = ['payload', 'history', 'expected', 'graders', 'tape', 'made'] as const;

type Row = Record<(typeof jsonColumns)[number], string | null> & { message: string };

const parsed = (row: Row) => {
  const { message, ...others } = mapValues(row, (value, key) =>
    jsonColumns.some((name) => name === key) && typeof value === 'string' ? parseJson(value) : value,
  ) as Record<string, unknown>;
  const { payload, history, ...rest } = others;
  return { ...rest, input: { message, payload, history } as CaseInput };
};
const toListed = (row: Row) => parsed(row) as unknown as ListedCase;
const toCase = (row: Row) => parsed(row) as unknown as Case;

export interface CaseFilter {
  tag?: string | undefined;
  q?: string | undefined;
  enabled?: boolean | undefined;
  has_tape?: boolean | undefined;
}

const conditions = (datasetId: string, { tag, q, enabled, has_tape }: CaseFilter): RawBuilder<unknown> =>
  sql.join(
    [
      sql`c.dataset_id = ${datasetId}`,
      ...(tag === undefined ? [] : [sql`c.tags @> array[${tag}::text]`]),
      ...(q === undefined ? [] : [sql`strpos(lower(c.name), lower(${q})) > 0`]),
      ...(enabled === undefined ? [] : [sql`c.enabled = ${enabled}`]),
      ...(has_tape === undefined ? [] : [sql`c.has_tape = ${has_tape}`]),
    ],
    sql` and `,
  );

/** Cases of a dataset, newest first, one more than `limit`. */
export const listCases = async (
  executor: Executor,
  datasetId: string,
  { limit, next, ...filter }: Page & CaseFilter,
): Promise<ListedCase[]> => {
  const { rows } = await sql<Row>`${planEachTime} select ${listed}, ${listedContent} from ${joined}
    where ${conditions(datasetId, filter)} and (${next}::uuid is null or c.id < ${next}::uuid)
    order by c.id desc limit ${limit + 1}`.execute(executor);
  return rows.map(toListed);
};

/** Whole cases of a dataset in the order in which they were made: at most `limit` after the case `after`. */
export const listWholeCases = async (
  executor: Executor,
  datasetId: string,
  { after, limit }: { after: string | null; limit: number },
): Promise<Case[]> => {
  const { rows } = await sql<Row>`select ${listed}, ${wholeContent} from ${joined}
    where c.dataset_id = ${datasetId} and (${after}::uuid is null or c.id > ${after}::uuid)
    order by c.id limit ${limit}`.execute(executor);
  return rows.map(toCase);
};

/** The enabled cases of a dataset with one of these tags, or all if there are none, in the order of their names. */
export const listEnabledCases = async (
  executor: Executor,
  datasetId: string,
  tags: readonly string[],
): Promise<{ id: string; revision: number; name: string }[]> => {
  const tagged = tags.length === 0 ? sql`` : sql`and tags && ${[...tags]}::text[]`;
  const { rows } = await sql<{ id: string; revision: number; name: string }>`
    select id, revision, name from cases where dataset_id = ${datasetId} and enabled ${tagged}
    order by name collate "C", id`.execute(executor);
  return rows;
};

/** The whole cases with these names. */
export const listCasesByName = async (
  executor: Executor,
  datasetId: string,
  names: readonly string[],
): Promise<Case[]> => {
  const { rows } = await sql<Row>`select ${listed}, ${wholeContent} from ${joined}
    where c.dataset_id = ${datasetId} and c.name = any(${names}::text[])`.execute(executor);
  return rows.map(toCase);
};

export const listNames = async (executor: Executor, datasetId: string): Promise<Set<string>> => {
  const { rows } = await sql<{
    name: string;
  }>`select name from cases where dataset_id = ${datasetId}`.execute(executor);
  return new Set(rows.map(({ name }) => name));
};

/** The case of a dataset. The caller has locked the dataset, if it changes the case. */
export const findCase = async (
  executor: Executor,
  datasetId: string,
  id: string,
): Promise<Case | undefined> => {
  const { rows } = await sql<Row>`select ${listed}, ${wholeContent} from ${joined}
    where c.dataset_id = ${datasetId} and c.id = ${id}`.execute(executor);
  return rows[0] && toCase(rows[0]);
};

export const findCaseIdByName = async (
  executor: Executor,
  datasetId: string,
  name: string,
): Promise<string | undefined> => {
  const { rows } = await sql<{ id: string }>`
    select id from cases where dataset_id = ${datasetId} and name = ${name}`.execute(executor);
  return rows[0]?.id;
};

/** The seal of what a case has and never shows. Bound to the row of the content. */
export const repliesColumn: SealedColumn = {
  table: 'case_contents',
  column: 'replies',
  boundTo: (id) => `case_contents:${id}:replies`,
};

interface NewContent {
  case_id: string;
  revision: number;
  values: CaseValues;
}

/** Rows that one statement inserts. */
const atOnce = 200;

const insertContents = async (tx: Tx, vault: Vault, contents: readonly NewContent[]): Promise<void> => {
  const rows = contents.map(({ case_id, revision, values: { input, expected, replies, ...values } }) => {
    const id = newId();
    const isKnown = replies.some((reply) => reply !== null);
    return {
      id,
      case_id,
      revision,
      name: values.name,
      message: input.message,
      payload: json(input.payload),
      history: json(input.history),
      expected: json(expected ?? null),
      graders: json(values.graders),
      tape: values.tape && json(values.tape),
      made: json(values.made),
      replies: isKnown ? vault.seal(JSON.stringify(replies), repliesColumn.boundTo(id)) : null,
    };
  });
  const all = <K extends keyof (typeof rows)[number]>(key: K) => rows.map((row) => row[key]);
  await sql`insert into case_contents (id, case_id, revision, name, message, payload, history, expected, graders, tape,
      made, replies)
    select id, case_id, revision, name, message, payload::json, history::json, expected::json, graders::json,
      tape::json, made::json, replies
    from unnest(${all('id')}::uuid[], ${all('case_id')}::uuid[], ${all('revision')}::integer[],
      ${all('name')}::text[], ${all('message')}::text[], ${all('payload')}::text[], ${all('history')}::text[],
      ${all('expected')}::text[], ${all('graders')}::text[], ${all('tape')}::text[], ${all('made')}::text[],
      ${all('replies')}::text[]) as k(id, case_id, revision, name, message, payload, history, expected, graders,
      tape, made, replies)`.execute(tx);
};

interface NewCase extends Pick<ListedCase, 'id' | 'source'> {
  values: CaseValues;
}

/** Inserts cases into the locked dataset, some hundreds in a statement. */
export const insertCases = async (
  tx: Tx,
  vault: Vault,
  datasetId: string,
  cases: readonly NewCase[],
): Promise<void> => {
  for (let at = 0; at < cases.length; at += atOnce) {
    const some = cases.slice(at, at + atOnce);
    const rows = some.map(({ id, source, values: { name, tags, enabled, tape, transcript_hash } }) => ({
      ...{ id, dataset_id: datasetId, name, tags, enabled, has_tape: tape !== null, transcript_hash, source },
    }));
    await sql`insert into cases (id, dataset_id, name, tags, enabled, has_tape, transcript_hash, source)
      select id, dataset_id, name, tags, enabled, has_tape, transcript_hash, nullif(source, 'null')
      from jsonb_to_recordset(${json(rows)}::jsonb) as c(id uuid, dataset_id uuid, name text, tags text[],
        enabled boolean, has_tape boolean, transcript_hash text, source jsonb)`.execute(tx);
    await insertContents(
      tx,
      vault,
      some.map(({ id, values }) => ({ case_id: id, revision: 1, values })),
    );
  }
};

/**
 * Makes the next revisions of cases of the locked dataset, some hundreds in a statement. A trigger removes those before,
 * unless a trial has them.
 */
export const updateCases = async (
  tx: Tx,
  vault: Vault,
  changes: readonly { before: Pick<ListedCase, 'id' | 'revision'>; values: CaseValues }[],
): Promise<void> => {
  for (let at = 0; at < changes.length; at += atOnce) {
    const some = changes.slice(at, at + atOnce);
    await insertContents(
      tx,
      vault,
      some.map(({ before: { id, revision }, values }) => ({ case_id: id, revision: revision + 1, values })),
    );
    const rows = some.map(({ before: { id }, values: { name, tags, enabled, tape, transcript_hash } }) => ({
      ...{ id, name, tags, enabled, has_tape: tape !== null, transcript_hash },
    }));
    await sql`update cases c set name = n.name, tags = n.tags, enabled = n.enabled, has_tape = n.has_tape,
        transcript_hash = n.transcript_hash, revision = c.revision + 1, updated_at = platform_now()
      from jsonb_to_recordset(${json(rows)}::jsonb) as n(id uuid, name text, tags text[], enabled boolean,
        has_tape boolean, transcript_hash text)
      where c.id = n.id`.execute(tx);
  }
};

/** Deletes the case. A trigger removes its contents, files and data frames, unless a trial has them. */
export const deleteCaseRow = async (tx: Tx, id: string): Promise<void> => {
  await sql`delete from cases where id = ${id}`.execute(tx);
};

/** Opens the sealed part of each reply of a tape; null for a reply without one. */
export const openReplies = (
  vault: Vault,
  { content_id, sealed, tape }: Pick<Case, 'content_id' | 'sealed' | 'tape'>,
): CaseContent['replies'] => {
  const opened: CaseContent['replies'] =
    sealed === null ? [] : JSON.parse(vault.open(sealed, repliesColumn.boundTo(content_id)));
  const replies = tape?.messages.filter(({ role }) => role === 'assistant') ?? [];
  return replies.map((_, i) => opened[i] ?? null);
};

/** The content of one revision of a case, also of one that was edited or deleted since; undefined if it is gone. */
export const findCaseContent = async (
  executor: Executor,
  vault: Vault,
  caseId: string,
  revision: number,
): Promise<CaseContent | undefined> => {
  const { rows } = await sql<Row>`select k.name, ${wholeContent} from case_contents k
    where k.case_id = ${caseId} and k.revision = ${revision}`.execute(executor);
  if (!rows[0]) return undefined;
  const found = toCase(rows[0]);
  const { name, input, expected, graders, tape, made } = found;
  const replies = openReplies(vault, found);
  return { case_id: caseId, revision, name, input, expected, graders, tape, made, replies };
};

/** Files and data frames of cases, which the rows of the cases do not hold. */
export interface CaseThings {
  files: { case_id: string; name: string; content_type: string; size_bytes: number }[];
  data_frames: {
    case_id: string;
    name: string;
    description: string | null;
    columns: Record<string, unknown>[];
    row_count: number;
    size_bytes: number;
  }[];
}

/** The files and data frames of cases, in the order of their names. */
export const listThings = async (executor: Executor, ids: readonly string[]): Promise<CaseThings> => {
  const { rows: files } = await sql<CaseThings['files'][number]>`
    select case_id, name, content_type, size_bytes from files where case_id = any(${ids}::uuid[])
    order by name`.execute(executor);
  const { rows: data_frames } = await sql<CaseThings['data_frames'][number]>`
    select case_id, name, description, columns, row_count, size_bytes from data_frames
    where case_id = any(${ids}::uuid[]) order by name`.execute(executor);
  return { files, data_frames };
};

/** Removes contents that nothing needs any more, because the trials that had them are gone: at most `limit`. */
export const deleteUnusedContents = async (tx: Tx, limit: number): Promise<number> => {
  const { rows } = await sql<{ id: string }>`
    select distinct k.case_id as id from case_contents k
    where not exists (select from cases c where c.id = k.case_id and c.revision = k.revision)
      and not exists (select from used_case_contents u where u.case_id = k.case_id and u.revision = k.revision)
    limit ${limit}`.execute(tx);
  if (rows.length > 0) {
    await sql`select remove_unused_case_contents(${rows.map(({ id }) => id)}::uuid[])`.execute(tx);
  }
  return rows.length;
};
