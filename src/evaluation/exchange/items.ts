import { isObject } from '../../lib/objects.ts';
import type { Note, ReadOptions } from './reading.ts';

/** An item of another product: a flat object, some of whose keys are the message and what is expected. */

const messageKeys = ['input', 'question', 'prompt', 'message'];
const expectedKeys = ['ideal', 'expected', 'answer', 'reference', 'ground_truth'];

type Item = Record<string, unknown>;

/** The fields of the case, and what was left out of it; or the reason that it is none. */
export type ItemCase = { fields: Item; notes: string[] } | { fault: string };

const textOfContent = (content: unknown, notes: string[]): string => {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  const texts = content.flatMap((part: unknown) => {
    if (typeof part === 'string') return [part];
    return isObject(part) && typeof part.text === 'string' ? [part.text] : [];
  });
  if (texts.length < content.length) notes.push('parts of messages that are no text are left out');
  return texts.join('\n');
};

/** The last user message, and those before it as a history of texts. */
const readChat = (messages: readonly unknown[], { mode }: ReadOptions, notes: string[]) => {
  const all = messages.filter(isObject);
  const talk = all.filter(({ role }) => role !== 'system' && role !== 'developer');
  if (talk.length < all.length)
    notes.push('system messages are left out: the agent has its own instructions');
  const last = talk.findLastIndex(({ role }) => role === 'user');
  if (last === -1) return { fault: 'has chat messages without a user message' };
  if (last < talk.length - 1) notes.push('messages after the last user message are left out');
  const before = talk.slice(0, last);
  const history = before.flatMap(({ role, content }) =>
    role === 'user' || role === 'assistant' ? [{ role, content: textOfContent(content, notes) }] : [],
  );
  if (history.length < before.length) notes.push('messages of tools and functions are left out');
  if (mode === 'worker' && history.length > 0) {
    notes.push('messages before the last user message are left out: cases for worker agents have no history');
  }
  const message = textOfContent(talk[last]!.content, notes);
  return { message, history: mode === 'worker' ? [] : history };
};

const isChat = (value: unknown): value is unknown[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every((one) => isObject(one) && typeof one.role === 'string');

const readMessage = (key: string, value: unknown, options: ReadOptions, notes: string[]) => {
  if (isChat(value)) return readChat(value, options, notes);
  if (typeof value === 'string') return { message: value, history: [] };
  if (typeof value === 'number' || typeof value === 'bigint') return { message: String(value), history: [] };
  return { fault: `\`${key}\` must be a text or chat messages` };
};

/**
 * Reads an item. Its message is at `messageField`, else at the first of the usual keys, and so is what is expected; the
 * other keys are the payload. `onlyText`: a single key with a text is the message, whatever its name.
 */
export const readItem = (item: Item, options: ReadOptions, onlyText = false): ItemCase => {
  const notes: string[] = [];
  const has = (key: string) => Object.hasOwn(item, key);
  const expectedKey = options.expectedField ?? expectedKeys.find(has);
  const texts = Object.keys(item).filter((key) => key !== expectedKey && typeof item[key] === 'string');
  const messageKey =
    options.messageField ?? messageKeys.find(has) ?? (onlyText && texts.length === 1 ? texts[0] : undefined);
  if (messageKey === undefined || !has(messageKey)) {
    const wanted =
      options.messageField === undefined
        ? `none of ${messageKeys.join(', ')} is`
        : `\`${messageKey}\` is not`;
    return { fault: `has no message: ${wanted} there; \`message_field\` names another key` };
  }
  const read = readMessage(messageKey, item[messageKey], options, notes);
  if ('fault' in read) return { fault: read.fault! };
  const { message, history } = read;
  const others = Object.entries(item).filter(([key]) => key !== messageKey && key !== expectedKey);
  if (others.length > 0 && options.mode === 'conversational') {
    const names = others.map(([key]) => key).join(', ');
    notes.push(`${names}: left out, because cases for conversational agents have no payload`);
  }
  const payload = options.mode === 'worker' ? Object.fromEntries(others) : {};
  const input = options.mode === 'worker' ? { message, payload } : { message, history };
  const isExpected = expectedKey !== undefined && has(expectedKey);
  return { fields: { input, ...(isExpected ? { expected: item[expectedKey] } : {}) }, notes };
};

export const notesAt = (line: number, messages: readonly string[]): Note[] =>
  [...new Set(messages)].map((message) => ({ line, message }));
