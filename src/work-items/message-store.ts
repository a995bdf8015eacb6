import { type Executor, type Page, sql } from '../database/index.ts';
import {
  cutParts,
  type MessagePart,
  type MessageRole,
  rawContent,
  type ShownPart,
  shownBytes,
  toParts,
} from '../messages/index.ts';
import { type Attempt, attemptAt } from './attempts.ts';

/** A message as the application shows it. */
export interface ShownMessage {
  id: string;
  seq: number;
  conversation_id: string;
  attempt: number | null;
  role: MessageRole;
  content: ShownPart[];
  /** Size of the whole content as it is downloaded. */
  bytes: number;
  /** True if only the beginning of the content is there. */
  cut: boolean;
  created_at: Date;
}

interface Row {
  id: string;
  seq: number;
  conversation_id: string;
  role: MessageRole;
  content: unknown;
  /** Size of the whole text, if only its beginning was read. */
  text_bytes: number | null;
  created_at: Date;
}

const toShown = ({ content, text_bytes, ...row }: Row, attempts: readonly Attempt[]): ShownMessage => {
  const parts = toParts(content);
  const shown = cutParts(parts);
  return {
    ...row,
    attempt: attemptAt(attempts, row.seq),
    content:
      text_bytes === null ? shown.content : shown.content.map((part) => ({ ...part, cut: true as const })),
    bytes: text_bytes ?? Buffer.byteLength(rawContent(parts).text),
    cut: shown.cut || text_bytes !== null,
  };
};

/** The text of a stored message that has nothing else; see `toStored`. */
const onlyText = sql`case jsonb_typeof(content)
  when 'string' then content #>> '{}'
  when 'object' then case when coalesce(content -> 'tool_calls', '[]') = '[]' then content ->> 'text' end end`;

/**
 * All messages of a Work Item, newest first, one more than `limit`. Of a long text only the beginning leaves the
 * database.
 */
export const listShownMessages = async (
  executor: Executor,
  workItemId: string,
  attempts: readonly Attempt[],
  { limit, next }: Page,
): Promise<ShownMessage[]> => {
  const { rows } = await sql<Row>`
    select id, seq, conversation_id, role, created_at,
      case when not is_long then content
        when jsonb_typeof(content) = 'string' then to_jsonb(left(text, ${sql.lit(shownBytes)}))
        else content || jsonb_build_object('text', left(text, ${sql.lit(shownBytes)})) end as content,
      case when is_long then bytes end as text_bytes
    from (
      select *, octet_length(text) as bytes, coalesce(octet_length(text) > ${sql.lit(shownBytes)}, false) as is_long
      from (
        select *, ${onlyText} as text from work_item_messages
        where work_item_id = ${workItemId} and (${next}::uuid is null
          or seq < (select seq from work_item_messages where work_item_id = ${workItemId} and id = ${next}::uuid))
        order by seq desc limit ${limit + 1}
      ) page
    ) measured order by seq desc`.execute(executor);
  return rows.map((row) => toShown(row, attempts));
};

/** The whole content of a message; undefined if the Work Item has none with this id. */
export const findMessageParts = async (
  executor: Executor,
  workItemId: string,
  messageId: string,
): Promise<MessagePart[] | undefined> => {
  const { rows } = await sql<{ content: unknown }>`select content from work_item_messages
    where work_item_id = ${workItemId} and id = ${messageId}`.execute(executor);
  return rows[0] && toParts(rows[0].content);
};

/** A conversation of a Work Item: a restart begins a new one. */
export interface ConversationSummary {
  id: string;
  began_at: Date;
  messages: number;
}

/** The conversations of a Work Item that have messages, oldest first. */
export const listShownConversations = async (
  executor: Executor,
  workItemId: string,
): Promise<ConversationSummary[]> => {
  const { rows } = await sql<ConversationSummary>`
    select conversation_id as id, min(created_at) as began_at, count(*)::integer as messages
    from work_item_messages where work_item_id = ${workItemId}
    group by conversation_id order by min(seq)`.execute(executor);
  return rows;
};

/** A value as it is downloaded: text as it is, anything else as JSON. `column` is jsonb. */
const rawText = (column: 'payload' | 'result') => {
  const value = sql.ref(column);
  return sql`case jsonb_typeof(${value}) when 'string' then ${value} #>> '{}' else ${value}::text end`;
};

/** The whole payload or result of a Work Item; null if it has none. */
export const findRawValue = async (
  executor: Executor,
  workItemId: string,
  column: 'payload' | 'result',
): Promise<{ isText: boolean; text: string } | null> => {
  const { rows } = await sql<{ isText: boolean; text: string | null }>`
    select ${rawText(column)} as text, jsonb_typeof(${sql.ref(column)}) = 'string' as "isText"
    from work_items where id = ${workItemId}`.execute(executor);
  const [row] = rows;
  return row && row.text !== null ? { isText: row.isText, text: row.text } : null;
};
