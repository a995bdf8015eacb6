import { type Executor, sql } from '../database/index.ts';
import type { Usage } from '../lib/usage.ts';
import { type MessagePart, toParts } from '../messages/index.ts';
import type { Continuation, RecordedMessage, Recording } from '../runs/index.ts';
import type { ConversationRun } from './run-store.ts';

interface Row {
  run_id: string;
  role: RecordedMessage['role'];
  content: unknown;
  provider_parts: unknown;
  usage: Usage | null;
}

/** The record of a run, and the messages of its conversation before it. */
export const readRunRecording = async (
  executor: Executor,
  { id, conversation_id, error }: ConversationRun,
): Promise<Recording & { history: { role: RecordedMessage['role']; content: MessagePart[] }[] }> => {
  const { rows: messages } = await sql<Row>`
    select run_id, role, content::jsonb as content, provider_parts, usage from conversation_messages
    where conversation_id = ${conversation_id}
      and seq <= (select max(seq) from conversation_messages where run_id = ${id})
    order by seq`.execute(executor);
  const { rows } = await sql<{ continuations: Continuation[] | null }>`
    select continuations from conversation_runs where id = ${id}`.execute(executor);
  const own = messages.filter(({ run_id }) => run_id === id);
  return {
    messages: own.map(({ role, content, provider_parts, usage }, i) => ({
      role,
      content: toParts(content),
      provider_parts,
      usage,
      ended_by: i === own.length - 1 ? (error?.code ?? null) : null,
    })),
    continuations: rows[0]?.continuations ?? [],
    history: messages
      .filter(({ run_id }) => run_id !== id)
      .map(({ role, content }) => ({ role, content: toParts(content) })),
  };
};
