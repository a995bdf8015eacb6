import type { Tx } from '../database/index.ts';
import { newId } from '../lib/ids.ts';
import { type Message, runtimeCalls } from '../runtime/index.ts';
import { appendEvents, expireDeltas, type NewEvent } from './event-store.ts';
import { appendMessages, type ConversationMessage, type NewMessage } from './message-store.ts';
import { conversationMessage } from './schemas.ts';

/** The text of a tool's result in an event has at most so many characters; the message has all of it. */
const shownText = 2_000;

const shorten = (text: string): string =>
  text.length <= shownText ? text : text.slice(0, shownText).toWellFormed();

/** A message of the loop as it is stored. */
export const toNewMessage = (message: Exclude<Message, { role: 'system' }>, id = newId()): NewMessage => ({
  id,
  role: message.role,
  content: runtimeCalls.toContent(message),
  ...(message.role === 'assistant' ? { provider_parts: message.provider_parts } : {}),
});

/** Durations of tool calls, by their ids, in milliseconds. */
export type Durations = ReadonlyMap<string, number>;

/** Returns the events of a stored message for its followers: replies, and results of tool calls. */
const eventsOf = (message: ConversationMessage, durations: Durations): NewEvent[] => {
  const { role, content } = message;
  if (role === 'assistant') {
    return [{ type: 'message.completed', data: { message: conversationMessage.parse(message) } }];
  }
  return content.flatMap((part): NewEvent[] => {
    if (part.type !== 'tool_result') return [];
    const { tool_call_id, tool_name, is_error } = part;
    const duration_ms = Math.round(durations.get(tool_call_id) ?? 0);
    const data = { tool_call_id, tool_name, is_error, text: shorten(part.text), duration_ms };
    return [{ type: 'tool.completed', data }];
  });
};

/** Stores messages of a run, and what followers are told about them after `before` and before `after`. */
export const recordMessages = async (
  tx: Tx,
  of: { conversationId: string; runId: string },
  messages: readonly NewMessage[],
  {
    before = [],
    after = [],
    durations = new Map(),
  }: { before?: readonly NewEvent[]; after?: readonly NewEvent[]; durations?: Durations } = {},
): Promise<void> => {
  const stored = messages.length > 0 ? await appendMessages(tx, of, messages) : [];
  const events = [...before, ...stored.flatMap((message) => eventsOf(message, durations)), ...after];
  if (events.length > 0) await appendEvents(tx, of, events);
  await expireDeltas(
    tx,
    stored.flatMap(({ id, role }) => (role === 'assistant' ? [id] : [])),
  );
};
