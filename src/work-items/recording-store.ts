import { type Executor, sql } from '../database/index.ts';
import type { Usage } from '../lib/usage.ts';
import { type MessagePart, type MessageRole, toParts } from '../messages/index.ts';
import type { Status } from './states.ts';

interface MessageRow {
  seq: number;
  role: MessageRole;
  content: MessagePart[];
  provider_parts: unknown;
  usage: Usage | null;
}

/** The messages of one conversation of a Work Item, oldest first, replies with what they used. */
export const listRecordedMessages = async (
  executor: Executor,
  { id, conversation_id }: { id: string; conversation_id: string },
): Promise<MessageRow[]> => {
  const { rows } = await sql<Omit<MessageRow, 'content'> & { content: unknown }>`
    select m.seq, m.role, m.content, m.provider_parts,
      (select s.tokens from work_item_steps s where s.work_item_id = m.work_item_id and s.message_seq = m.seq
        and s.kind = 'model' limit 1) as usage
    from work_item_messages m where m.work_item_id = ${id} and m.conversation_id = ${conversation_id}
    order by m.seq`.execute(executor);
  return rows.map((row) => ({ ...row, content: toParts(row.content) }));
};

interface EventRow {
  seq: number;
  action: string;
  from: Status | null;
  to: Status;
  details: Record<string, unknown>;
}

/** The ends of executions and the continuations after the message `seq`. Events and messages are counted together. */
export const listStopsAfter = async (executor: Executor, id: string, seq: number): Promise<EventRow[]> => {
  const { rows } = await sql<EventRow>`
    select seq, action, from_status as from, to_status as to, details from work_item_events
    where work_item_id = ${id} and seq > ${seq} and (from_status = 'EXECUTING' or action in ('continue', 'complete'))
    order by seq`.execute(executor);
  return rows;
};
