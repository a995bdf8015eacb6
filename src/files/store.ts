import { type Executor, type Page, sql, type Tx } from '../database/index.ts';

/** Owner of files: exactly one of the four is an id. */
export type OwnerIds =
  | { conversation_id: string; work_item_id: null; case_id?: null; trial_id?: null }
  | { conversation_id: null; work_item_id: string; case_id?: null; trial_id?: null }
  | { conversation_id: null; work_item_id: null; case_id: string; trial_id?: null }
  | { conversation_id: null; work_item_id: null; case_id?: null; trial_id: string };

const ownerKeys = ['conversation_id', 'work_item_id', 'case_id', 'trial_id'] as const;

/** Returns the one id, with its name. */
export const ownerOf = (owner: OwnerIds): { key: (typeof ownerKeys)[number]; id: string } => {
  const key = ownerKeys.find((name) => owner[name] != null)!;
  return { key, id: owner[key]! };
};

export type StoredFile = OwnerIds & {
  id: string;
  name: string;
  content_type: string;
  size_bytes: number;
  sha256: string;
  created_by: string;
  created_at: Date;
};

const columns = sql`id, conversation_id, work_item_id, case_id, trial_id, name, content_type, size_bytes, sha256,
  created_by, created_at`;

/** The condition that a row belongs to the owner, in a form that uses the index of its kind. */
export const ownedBy = (owner: OwnerIds) => {
  const { key, id } = ownerOf(owner);
  return sql`${sql.ref(key)} = ${id}`;
};

/** Returns files, newest first, one more than `limit`. */
export const listFiles = async (
  executor: Executor,
  owner: OwnerIds,
  { limit, next }: Page,
): Promise<StoredFile[]> => {
  const { rows } = await sql<StoredFile>`select ${columns} from files where ${ownedBy(owner)}
    and (${next}::uuid is null or id < ${next}::uuid) order by id desc limit ${limit + 1}`.execute(executor);
  return rows;
};

export const findFile = async (
  executor: Executor,
  owner: OwnerIds,
  id: string,
): Promise<StoredFile | undefined> => {
  const { rows } = await sql<StoredFile>`select ${columns} from files
    where id = ${id} and ${ownedBy(owner)}`.execute(executor);
  return rows[0];
};

export const findFileByName = async (
  executor: Executor,
  owner: OwnerIds,
  name: string,
): Promise<StoredFile | undefined> => {
  const { rows } = await sql<StoredFile>`select ${columns} from files
    where name = ${name} and ${ownedBy(owner)}`.execute(executor);
  return rows[0];
};

/** The names of all files of the owner. */
export const listFileNames = async (executor: Executor, owner: OwnerIds): Promise<Set<string>> => {
  const { rows } = await sql<{ name: string }>`select name from files where ${ownedBy(owner)}`.execute(
    executor,
  );
  return new Set(rows.map(({ name }) => name));
};

export const insertFile = async (
  tx: Tx,
  {
    id,
    conversation_id,
    work_item_id,
    case_id = null,
    trial_id = null,
    name,
    content_type,
    size_bytes,
    sha256,
    created_by,
  }: Omit<StoredFile, 'created_at'>,
): Promise<StoredFile> => {
  const { rows } = await sql<StoredFile>`
    insert into files (id, conversation_id, work_item_id, case_id, trial_id, name, content_type, size_bytes, sha256,
      created_by)
    values (${id}, ${conversation_id}, ${work_item_id}, ${case_id}, ${trial_id}, ${name}, ${content_type},
      ${size_bytes}, ${sha256}, ${created_by})
    returning ${columns}`.execute(tx);
  return rows[0]!;
};

/** Returns whether it was there. A trigger has its bytes removed. */
export const deleteFile = async (tx: Tx, id: string): Promise<boolean> => {
  const { rows } = await sql`delete from files where id = ${id} returning id`.execute(tx);
  return rows.length > 0;
};
