import { type Executor, json, type Page, type RawBuilder, sql, type Tx } from '../database/index.ts';

type ConversationStatus = 'idle' | 'running' | 'needs_review';

export interface Conversation {
  id: string;
  agent_id: string;
  /** Name that someone gave it; null: it is called by its first message. */
  name: string | null;
  /** The beginning of the first message; null before. */
  title: string | null;
  metadata: Record<string, unknown>;
  status: ConversationStatus;
  active_run_id: string | null;
  /** The number of the last event. */
  last_seq: number;
  message_count: number;
  last_message_at: Date | null;
  created_by: string;
  revision: number;
  created_at: Date;
  updated_at: Date;
}

/**
 * Columns of `conversations c`. Listed, because a named statement with `*` fails after a migration that adds a column.
 */
const columns = sql`c.id, c.agent_id, c.name, c.title, c.metadata, c.active_run_id, c.last_seq, c.message_count,
  c.last_message_at, c.created_by, c.revision, c.created_at, c.updated_at,
  coalesce((select case when r.status = 'needs_review' then r.status else 'running' end
    from conversation_runs r where r.id = c.active_run_id), 'idle') as status`;

const select = async (executor: Executor, rest: RawBuilder<unknown>): Promise<Conversation[]> =>
  (await sql<Conversation>`select ${columns} from conversations c ${rest}`.execute(executor)).rows;

/** Returns conversations, newest first, one more than `limit`. `createdBy`: only those of this principal; null: all. */
export const listConversations = (
  executor: Executor,
  { agentId, createdBy }: { agentId: string; createdBy: string | null },
  { limit, next, offset }: Page & { offset: number },
): Promise<Conversation[]> =>
  select(
    executor,
    sql`where c.agent_id = ${agentId} and (${createdBy}::text is null or c.created_by = ${createdBy})
      and (${next}::uuid is null or c.id < ${next}::uuid)
      order by c.id desc limit ${limit + 1} offset ${offset}`,
  );

export const findConversation = async (executor: Executor, id: string): Promise<Conversation | undefined> =>
  (await select(executor, sql`where c.id = ${id}`))[0];

/** Locks the conversation until the transaction ends: always before its run, if both are locked. */
export const findLockedConversation = async (tx: Tx, id: string): Promise<Conversation | undefined> => {
  await sql`select from conversations where id = ${id} for update`.execute(tx);
  return findConversation(tx, id);
};

/** Keeps the conversation from being deleted before the transaction ends. Returns whether it is there. */
export const lockConversationForShare = async (tx: Tx, id: string): Promise<boolean> => {
  const { rows } = await sql`select 1 from conversations where id = ${id} for key share`.execute(tx);
  return rows.length > 0;
};

export const insertConversation = async (
  tx: Tx,
  row: Pick<Conversation, 'id' | 'agent_id' | 'name' | 'metadata' | 'created_by'>,
): Promise<void> => {
  await sql`insert into conversations (id, agent_id, name, metadata, created_by)
    values (${row.id}, ${row.agent_id}, ${row.name}, ${json(row.metadata)}::jsonb, ${row.created_by})`.execute(
    tx,
  );
};

/** Writes what a client may set, and raises the revision. */
export const updateConversation = async (
  tx: Tx,
  { id, name, metadata }: Pick<Conversation, 'id' | 'name' | 'metadata'>,
): Promise<void> => {
  await sql`update conversations set name = ${name}, metadata = ${json(metadata)}::jsonb, revision = revision + 1,
    updated_at = platform_now() where id = ${id}`.execute(tx);
};

export const deleteConversation = async (tx: Tx, id: string): Promise<void> => {
  await sql`delete from conversations where id = ${id}`.execute(tx);
};

/** Sets which run is active, and with the first message the title. */
export const updateActiveRun = async (
  tx: Tx,
  id: string,
  { runId, title = null }: { runId: string | null; title?: string | null },
): Promise<void> => {
  await sql`update conversations set active_run_id = ${runId}, title = coalesce(title, ${title})
    where id = ${id}`.execute(tx);
};

/** The numbers of the last events of those of the conversations that exist. */
export const listLastSeqs = async (executor: Executor, ids: string[]): Promise<Map<string, number>> => {
  const { rows } = await sql<{ id: string; last_seq: number }>`
    select id, last_seq from conversations where id = any(${ids}::uuid[])`.execute(executor);
  return new Map(rows.map(({ id, last_seq }) => [id, last_seq]));
};

/** The open runs of an agent. */
export const listOpenRuns = async (tx: Tx, agentId: string): Promise<string[]> => {
  const { rows } = await sql<{ id: string }>`select active_run_id as id from conversations
    where agent_id = ${agentId} and active_run_id is not null`.execute(tx);
  return rows.map(({ id }) => id);
};

/** Deletes the events of all conversations of an agent. */
export const deleteEventsOfAgent = async (tx: Tx, agentId: string): Promise<void> => {
  await sql`delete from stream_events where scope in (select id from conversations where agent_id = ${agentId})`.execute(
    tx,
  );
};

/** Returns whether a run of a conversation of this principal has the trace. */
export const ownsTrace = async (
  executor: Executor,
  traceId: string,
  principalId: string,
): Promise<boolean> => {
  const { rows } =
    await sql`select 1 from conversation_runs r join conversations c on c.id = r.conversation_id
    where r.trace_id = ${traceId} and c.created_by = ${principalId} limit 1`.execute(executor);
  return rows.length > 0;
};
