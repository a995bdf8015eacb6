import { type Executor, sql } from '../database/index.ts';
import { type MessagePart, type MessageRole, toParts } from '../messages/index.ts';
import type { Status } from './states.ts';

/** One row of what happened to a Work Item: a transition or a message. */
export type Happening = { seq: number; at: Date } & (
  | { kind: 'transition'; to: Status }
  | { kind: 'message'; id: string; conversation_id: string; role: MessageRole; content: MessagePart[] }
);

interface Row {
  seq: number;
  at: Date;
  to: Status | null;
  id: string;
  conversation_id: string;
  role: MessageRole;
  content: unknown;
}

/** Returns the happenings after `after`, oldest first, at most `limit`. */
export const listHappenings = async (
  executor: Executor,
  workItemId: string,
  after: number,
  limit: number,
): Promise<Happening[]> => {
  const { rows } = await sql<Row>`
    select * from (
      select seq, at, to_status as to, id, null::uuid as conversation_id, null as role, null::jsonb as content
      from work_item_events where work_item_id = ${workItemId} and seq > ${after}
      union all
      select seq, created_at, null, id, conversation_id, role, content
      from work_item_messages where work_item_id = ${workItemId} and seq > ${after}
    ) happening order by seq limit ${limit}`.execute(executor);
  return rows.map(({ seq, at, to, content, ...message }) =>
    to === null
      ? { kind: 'message', seq, at, ...message, content: toParts(content) }
      : { kind: 'transition', seq, at, to },
  );
};

/** The numbers of the last rows of those of the Work Items that exist. */
export const listLastHappenings = async (executor: Executor, ids: string[]): Promise<Map<string, number>> => {
  const { rows } = await sql<{ id: string; seq: number }>`
    select i.id, greatest((select max(seq) from work_item_events where work_item_id = i.id),
      (select max(seq) from work_item_messages where work_item_id = i.id)) as seq
    from work_items i where i.id = any(${ids}::uuid[])`.execute(executor);
  return new Map(rows.map(({ id, seq }) => [id, seq]));
};
