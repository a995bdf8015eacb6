import { type Executor, json, type Page, sql, type Tx } from '../database/index.ts';
import type { Usage } from '../lib/usage.ts';
import type { MessagePart } from '../messages/index.ts';

export interface ConversationMessage {
  id: string;
  conversation_id: string;
  run_id: string;
  role: 'user' | 'assistant' | 'tool';
  content: MessagePart[];
  created_at: Date;
}

const columns = sql`id, conversation_id, run_id, role, content, created_at`;

export type NewMessage = Pick<ConversationMessage, 'id' | 'role' | 'content'> & {
  provider_parts?: unknown;
  /** Of a reply. */
  usage?: Usage | null;
};

/** Stores messages of a run, in their order. The caller has locked the conversation. */
export const appendMessages = async (
  tx: Tx,
  { conversationId, runId }: { conversationId: string; runId: string },
  messages: readonly NewMessage[],
): Promise<ConversationMessage[]> => {
  const stored: ConversationMessage[] = [];
  for (const { id, role, content, provider_parts, usage } of messages) {
    const parts = provider_parts === undefined ? null : json(provider_parts);
    const { rows } = await sql<ConversationMessage>`
      insert into conversation_messages (id, conversation_id, run_id, role, content, provider_parts, usage)
      values (${id}, ${conversationId}, ${runId}, ${role}, ${json(content)}::json, ${parts}::json,
        ${usage ? json(usage) : null}::jsonb)
      returning ${columns}`.execute(tx);
    stored.push(...rows);
  }
  await sql`update conversations set message_count = message_count + ${stored.length}::integer,
    last_message_at = platform_now() where id = ${conversationId}`.execute(tx);
  return stored;
};

/** Returns messages, newest first, one more than `limit`. */
export const listMessages = async (
  executor: Executor,
  conversationId: string,
  { limit, next }: Page,
): Promise<ConversationMessage[]> => {
  const { rows } = await sql<ConversationMessage>`
    select ${columns} from conversation_messages where conversation_id = ${conversationId}
      and (${next}::uuid is null or seq < (select seq from conversation_messages
        where conversation_id = ${conversationId} and id = ${next}::uuid))
    order by seq desc limit ${limit + 1}`.execute(executor);
  return rows;
};

/** Returns messages as `listMessages` does, with the principal that began a run with the message; null for others. */
export const listAuthoredMessages = async (
  executor: Executor,
  conversationId: string,
  { limit, next }: Page,
): Promise<(ConversationMessage & { author: string | null })[]> => {
  const { rows } = await sql<ConversationMessage & { author: string | null }>`
    select page.*, r.created_by as author
    from (
      select seq, ${columns} from conversation_messages where conversation_id = ${conversationId}
        and (${next}::uuid is null or seq < (select seq from conversation_messages
          where conversation_id = ${conversationId} and id = ${next}::uuid))
      order by seq desc limit ${limit + 1}
    ) page left join conversation_runs r on r.id = page.run_id and r.message_id = page.id
    order by page.seq desc`.execute(executor);
  return rows;
};

/** The whole content of a message; undefined if the conversation has none with this id. */
export const findContent = async (
  executor: Executor,
  conversationId: string,
  id: string,
): Promise<MessagePart[] | undefined> => {
  const { rows } = await sql<Pick<ConversationMessage, 'content'>>`select content from conversation_messages
    where conversation_id = ${conversationId} and id = ${id}`.execute(executor);
  return rows[0]?.content;
};

/** The messages of a run, oldest first. */
export const listRunMessages = async (executor: Executor, runId: string): Promise<ConversationMessage[]> => {
  const { rows } = await sql<ConversationMessage>`
    select ${columns} from conversation_messages where run_id = ${runId} order by seq`.execute(executor);
  return rows;
};

export const countRunMessages = async (executor: Executor, runId: string): Promise<number> => {
  const { rows } = await sql<{ n: number }>`
    select count(*)::integer as n from conversation_messages where run_id = ${runId}`.execute(executor);
  return rows[0]!.n;
};

/** All messages of a conversation for the next model call, oldest first. */
export const listWholeConversation = async (
  executor: Executor,
  conversationId: string,
): Promise<(ConversationMessage & { provider_parts: unknown })[]> => {
  const { rows } = await sql<ConversationMessage & { provider_parts: unknown }>`
    select ${columns}, provider_parts from conversation_messages where conversation_id = ${conversationId}
    order by seq`.execute(executor);
  return rows;
};
