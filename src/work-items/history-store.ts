import {
  type Executor,
  json,
  type Page,
  type RawBuilder,
  sentWithNext,
  sql,
  type Tx,
} from '../database/index.ts';
import { newId } from '../lib/ids.ts';
import type { Who } from '../lib/principal.ts';
import { type MessagePart, type MessageRole, toParts, toStored } from '../messages/index.ts';
import type { Status } from './states.ts';

/** One row of the history: a transition, or something that happened without one (`from` equals `to`). */
export interface WorkItemEvent {
  id: string;
  from: Status | null;
  to: Status;
  action: string;
  principal: { kind: string; id: string; name: string };
  details: Record<string, unknown>;
  at: Date;
}

export interface WorkItemMessage {
  id: string;
  conversation_id: string;
  role: MessageRole;
  content: MessagePart[];
  created_at: Date;
}

/** Returns a principal as the history keeps it: still readable when the key or person is gone. */
export const principalJson = ({ kind, id, name }: Who): string => json({ kind, id, name });

interface NewEvents {
  action: string;
  principal: Who;
  moved: readonly { id: string; from: Status | null; to: Status; details?: Record<string, unknown> }[];
}

/** The statement that records what happened to several Work Items together. */
export const eventInsertion = ({ action, principal, moved }: NewEvents): RawBuilder<unknown> =>
  sql`insert into work_item_events (id, work_item_id, from_status, to_status, action, principal, details, at)
    select e.id, e.work_item_id, e.from_status, e.to_status, ${action}, ${principalJson(principal)}::jsonb,
      e.details::jsonb, (select platform_now())
    from unnest(${moved.map(() => newId())}::uuid[], ${moved.map((m) => m.id)}::uuid[],
      ${moved.map((m) => m.from)}::text[], ${moved.map((m) => m.to)}::text[],
      ${moved.map((m) => json(m.details ?? {}))}::text[]) as e(id, work_item_id, from_status, to_status, details)`;

/** Records what happened to several Work Items together, in one statement whatever their number. */
export const recordEvents = async (tx: Tx, events: NewEvents): Promise<void> => {
  await eventInsertion(events).execute(tx);
};

/** The ids of those who changed, submitted or restarted a Work Item: they asked for its work, too, not only who created it. */
export const listRequesters = async (tx: Tx, workItemId: string): Promise<string[]> => {
  const { rows } = await sql<{ id: string }>`select distinct principal->>'id' as id from work_item_events
    where work_item_id = ${workItemId} and action in ('update', 'submit', 'restart')`.execute(tx);
  return rows.map(({ id }) => id);
};

/** Returns whether the history of a Work Item has this already. */
export const hasEvent = async (
  tx: Tx,
  workItemId: string,
  action: string,
  details: Record<string, unknown>,
): Promise<boolean> => {
  const { rows } = await sql`select from work_item_events
    where work_item_id = ${workItemId} and action = ${action} and details = ${json(details)}::jsonb limit 1`.execute(
    tx,
  );
  return rows.length > 0;
};

/** The rows of a Work Item in a table, newest first, one more than `limit`. */
const newest = async <T>(
  executor: Executor,
  from: 'work_item_events' | 'work_item_messages',
  columns: RawBuilder<unknown>,
  workItemId: string,
  { limit, next }: Page,
): Promise<T[]> => {
  const table = sql.table(from);
  const { rows } = await sql<T>`
    select ${columns} from ${table} where work_item_id = ${workItemId} and (${next}::uuid is null
      or seq < (select seq from ${table} where work_item_id = ${workItemId} and id = ${next}::uuid))
    order by seq desc limit ${limit + 1}`.execute(executor);
  return rows;
};

/** Returns events, newest first, one more than `limit`. */
export const listEvents = (executor: Executor, workItemId: string, page: Page): Promise<WorkItemEvent[]> => {
  const columns = sql`id, from_status as from, to_status as to, action, principal, details, at`;
  return newest(executor, 'work_item_events', columns, workItemId, page);
};

export interface NewMessage {
  /** Default: a new one. */
  id?: string;
  work_item_id: string;
  conversation_id: string;
  role: MessageRole;
  content: readonly MessagePart[];
  /** The reply as its provider gave it: for the next model call, never shown. */
  provider_parts?: unknown;
}

/** Returns the statement that stores messages in their order. `where`: a condition on `m` for those to store. */
export const messageInsertion = (
  messages: readonly NewMessage[],
  where: RawBuilder<unknown> = sql`true`,
): RawBuilder<unknown> => {
  const parts = messages.map((m) => (m.provider_parts === undefined ? null : json(m.provider_parts)));
  return sql`insert into work_item_messages (id, work_item_id, conversation_id, role, content, provider_parts)
    select m.id, m.work_item_id, m.conversation_id, m.role, m.content::jsonb, m.provider_parts::json
    from unnest(${messages.map(({ id }) => id ?? newId())}::uuid[], ${messages.map((m) => m.work_item_id)}::uuid[],
      ${messages.map((m) => m.conversation_id)}::uuid[], ${messages.map((m) => m.role)}::text[],
      ${messages.map((m) => json(toStored(m.role, m.content)))}::text[], ${parts}::text[]) with ordinality
      as m(id, work_item_id, conversation_id, role, content, provider_parts, n)
    where ${where} order by m.n`;
};

/** Returns the statement that stores the first messages of those of `begun` that have none and are not cancelled. */
export const firstMessageInsertion = (messages: readonly NewMessage[]): RawBuilder<unknown> =>
  messageInsertion(
    messages,
    sql`exists (select from begun b where b.id = m.work_item_id and not b.has_messages and not b.cancel_requested)`,
  );

/** Stores messages as they happen, in their order, in one statement, which goes out with the next one. */
export const appendMessages = async (tx: Tx, messages: readonly NewMessage[]): Promise<void> => {
  if (messages.length > 0) await sql`${sentWithNext} ${messageInsertion(messages)}`.execute(tx);
};

/** Stores a message as it happens. */
export const appendMessage = async (tx: Tx, message: NewMessage): Promise<void> => {
  await appendMessages(tx, [message]);
};

type MessageRow = Omit<WorkItemMessage, 'content'> & { content: unknown };

const toMessage = (row: MessageRow): WorkItemMessage => ({ ...row, content: toParts(row.content) });

type ConversationMessage = WorkItemMessage & { work_item_id: string; provider_parts: unknown };

/** The messages of conversations of Work Items for the next model call, those of each oldest first. */
export const listConversations = async (
  executor: Executor,
  items: readonly { id: string; conversation_id: string }[],
): Promise<ConversationMessage[]> => {
  if (items.length === 0) return [];
  const { rows } = await sql<MessageRow & Pick<ConversationMessage, 'work_item_id' | 'provider_parts'>>`
    select m.id, m.work_item_id, m.conversation_id, m.role, m.content, m.provider_parts, m.created_at
    from unnest(${items.map((item) => item.id)}::uuid[], ${items.map((item) => item.conversation_id)}::uuid[])
      as i(id, conversation_id)
      join work_item_messages m on m.work_item_id = i.id and m.conversation_id = i.conversation_id
    order by m.seq`.execute(executor);
  return rows.map((row) => ({ ...row, ...toMessage(row) }));
};

/** The messages of one conversation of a Work Item for the next model call, oldest first. */
export const listConversation = (
  executor: Executor,
  id: string,
  conversationId: string,
): Promise<ConversationMessage[]> => listConversations(executor, [{ id, conversation_id: conversationId }]);

/** All messages of a Work Item, newest first, one more than `limit`. */
export const listMessages = async (
  executor: Executor,
  workItemId: string,
  page: Page,
): Promise<WorkItemMessage[]> => {
  const columns = sql`id, conversation_id, role, content, created_at`;
  const rows = await newest<MessageRow>(executor, 'work_item_messages', columns, workItemId, page);
  return rows.map(toMessage);
};
