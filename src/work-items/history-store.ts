import { type Executor, json, type Page, type RawBuilder, sql, type Tx } from '../database/index.ts';
import { newId } from '../lib/ids.ts';
import type { Principal } from '../lib/principal.ts';
import { type MessagePart, type MessageRole, toParts, toStored } from './messages.ts';
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

type Who = Pick<Principal, 'kind' | 'id' | 'name'>;

/** Who did it, as the history keeps it: still readable when the key or person is gone. */
export const principalJson = ({ kind, id, name }: Who): string => json({ kind, id, name });

/** Records what happened to several Work Items together, in one statement whatever their number. */
export const recordEvents = async (
  tx: Tx,
  action: string,
  principal: Who,
  moved: readonly { id: string; from: Status | null; to: Status }[],
  details: Record<string, unknown> = {},
): Promise<void> => {
  if (moved.length === 0) return;
  await sql`insert into work_item_events (id, work_item_id, from_status, to_status, action, principal, details, at)
    select e.id, e.work_item_id, e.from_status, e.to_status, ${action}, ${principalJson(principal)}::jsonb,
      ${json(details)}::jsonb, (select platform_now())
    from unnest(${moved.map(() => newId())}::uuid[], ${moved.map((m) => m.id)}::uuid[],
      ${moved.map((m) => m.from)}::text[], ${moved.map((m) => m.to)}::text[])
      as e(id, work_item_id, from_status, to_status)`.execute(tx);
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

/** Newest first, one more than `limit`. */
export const listEvents = (executor: Executor, workItemId: string, page: Page): Promise<WorkItemEvent[]> => {
  const columns = sql`id, from_status as from, to_status as to, action, principal, details, at`;
  return newest(executor, 'work_item_events', columns, workItemId, page);
};

/** Stores a message as it happens; returns its id. */
export const appendMessage = async (
  tx: Tx,
  message: {
    work_item_id: string;
    conversation_id: string;
    role: MessageRole;
    content: readonly MessagePart[];
  },
): Promise<string> => {
  const id = newId();
  await sql`insert into work_item_messages (id, work_item_id, conversation_id, role, content)
    values (${id}, ${message.work_item_id}, ${message.conversation_id}, ${message.role},
      ${json(toStored(message.role, message.content))}::jsonb)`.execute(tx);
  return id;
};

type MessageRow = Omit<WorkItemMessage, 'content'> & { content: unknown };

const toMessage = (row: MessageRow): WorkItemMessage => ({ ...row, content: toParts(row.content) });

/** The messages of one conversation of a Work Item, oldest first. */
export const listConversation = async (
  executor: Executor,
  workItemId: string,
  conversationId: string,
): Promise<WorkItemMessage[]> => {
  const { rows } = await sql<MessageRow>`
    select id, conversation_id, role, content, created_at from work_item_messages
    where work_item_id = ${workItemId} and conversation_id = ${conversationId} order by seq`.execute(
    executor,
  );
  return rows.map(toMessage);
};

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
