import { type Executor, json, sql, type Tx } from '../database/index.ts';
import type { StreamEvent } from '../event-streams/index.ts';

/** The channel that notifies readers of new events; the payload is `scope:seq`. */
export const eventsChannel = 'stream_events';

/** An event that is to be stored. */
export interface NewEvent {
  type:
    | 'run.started'
    | 'message.delta'
    | 'message.completed'
    | 'tool.started'
    | 'tool.completed'
    | 'approval.requested'
    | 'run.reset'
    | 'run.completed';
  /** Message that a delta is part of. */
  messageId?: string;
  data: object;
}

/**
 * Stores events of a conversation, numbers them, and notifies readers when the transaction commits. The caller has
 * locked the conversation. Returns the number of the last one.
 */
export const appendEvents = async (
  tx: Tx,
  { conversationId, runId }: { conversationId: string; runId: string },
  events: readonly NewEvent[],
): Promise<number> => {
  const { rows } = await sql<{ seq: number }>`
    with scope as (
      update conversations set last_seq = last_seq + ${events.length}::integer where id = ${conversationId}
      returning id, last_seq
    ), added as (
      insert into stream_events (scope, seq, run_id, type, message_id, data)
      select scope.id, scope.last_seq - ${events.length}::integer + e.n, ${runId}, e.type, e.message_id, e.data
      from scope, unnest(${events.map(({ type }) => type)}::text[],
        ${events.map(({ messageId }) => messageId ?? null)}::uuid[],
        ${events.map(({ data }) => json(data))}::json[]) with ordinality as e(type, message_id, data, n)
    )
    select last_seq as seq, pg_notify(${eventsChannel}, id || ':' || last_seq) from scope`.execute(tx);
  return rows[0]!.seq;
};

/** The deltas of these messages are sent for another minute: what came of them can be read. */
export const expireDeltas = async (tx: Tx, messageIds: readonly string[]): Promise<void> => {
  if (messageIds.length === 0) return;
  await sql`update stream_events set remove_at = platform_now() + interval '60 seconds'
    where message_id = any(${messageIds}::uuid[])`.execute(tx);
};

/** The messages that a run began to send and never completed, nor declared void. */
export const listOpenMessages = async (tx: Tx, conversationId: string, runId: string): Promise<string[]> => {
  const { rows } = await sql<{ id: string }>`
    select distinct d.message_id as id from stream_events d
    where d.scope = ${conversationId} and d.run_id = ${runId} and d.type = 'message.delta'
      and not exists (select from conversation_messages m where m.id = d.message_id)
      and not exists (select from stream_events r where r.scope = d.scope and r.run_id = d.run_id
        and r.type = 'run.reset' and r.seq > d.seq)`.execute(tx);
  return rows.map(({ id }) => id);
};

interface EventRow {
  seq: number;
  run_id: string;
  type: string;
  data: string;
  created_at: Date;
}

const toEvent = ({ seq, run_id, type, data, created_at }: EventRow): StreamEvent => {
  const common = JSON.stringify({ run_id, at: created_at.toISOString() });
  // The stored text is an object with at least one field.
  return { seq, type, data: `${common.slice(0, -1)},${data.slice(1)}` };
};

/** Events that a reader has not read yet: those of a conversation after this number. */
export interface Unread {
  scope: string;
  after: number;
}

/** The events of each of `unread`, in its order: oldest first, at most `limit` of each. */
export const listEvents = async (
  executor: Executor,
  unread: readonly Unread[],
  limit: number,
): Promise<StreamEvent[][]> => {
  const { rows } = await sql<EventRow & { n: number }>`
    select u.n, e.* from unnest(${unread.map(({ scope }) => scope)}::uuid[],
      ${unread.map(({ after }) => after)}::bigint[]) with ordinality as u(scope, after, n)
    cross join lateral (
      select seq, run_id, type, data::text as data, created_at from stream_events
      where scope = u.scope and seq > u.after and remove_at > platform_now() order by seq limit ${limit}) e
    order by u.n, e.seq`.execute(executor);
  const lists = unread.map((): StreamEvent[] => []);
  for (const { n, ...row } of rows) lists[n - 1]!.push(toEvent(row));
  return lists;
};

/** Deletes at most `limit` events that are not sent any more. Returns how many. */
export const deleteOldEvents = async (executor: Executor, limit: number): Promise<number> => {
  const { numAffectedRows } = await sql`delete from stream_events where (scope, seq) in (
    select scope, seq from stream_events where remove_at <= (select platform_now())
    order by remove_at limit ${limit} for update skip locked)`.execute(executor);
  return Number(numAffectedRows ?? 0);
};

/** Deletes all events of a conversation. */
export const deleteEvents = async (tx: Tx, scope: string): Promise<void> => {
  await sql`delete from stream_events where scope = ${scope}`.execute(tx);
};
