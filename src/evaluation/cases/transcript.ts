import { rfc8785 } from '../../lib/rfc8785.ts';
import type { MessagePart } from '../../messages/index.ts';

interface Message {
  role: string;
  content: readonly MessagePart[];
}

/** The part without its ids: calls and results belong together by their order. */
const withoutIds = (part: MessagePart): object => {
  switch (part.type) {
    case 'text':
      return { type: part.type, text: part.text };
    case 'tool_call':
      return { type: part.type, tool_name: part.tool_name, arguments: part.arguments };
    case 'tool_result': {
      const { type, tool_name, text, is_error, executed_arguments } = part;
      return { type, tool_name, text, is_error, executed_arguments };
    }
  }
};

/** The messages with the results of each step right after it, in the order of its calls. */
const inOrderOfCalls = <M extends Message>(messages: readonly M[]): M[] => {
  const ordered: M[] = [];
  const moved = new Set<M>();
  messages.forEach((message, at) => {
    if (moved.has(message)) return;
    ordered.push(message);
    const calls = message.content.flatMap((part) => (part.type === 'tool_call' ? [part.tool_call_id] : []));
    if (calls.length === 0) return;
    const next = messages.findIndex((later, i) => i > at && later.role === 'assistant');
    const place = ({ content: [first] }: M): number =>
      first?.type === 'tool_result' ? calls.indexOf(first.tool_call_id) : -1;
    const results = messages
      .slice(at + 1, next === -1 ? undefined : next)
      .filter((later) => place(later) !== -1)
      .sort((a, b) => place(a) - place(b));
    for (const result of results) moved.add(result);
    ordered.push(...results);
  });
  return ordered;
};

/**
 * The transcript of a conversation: canonical JSON (RFC 8785) of `[{role, content}]` without ids, times and system
 * message, the results of one step in the order of their calls. Equal for two runs that said and did the same.
 */
export const transcriptOf = (messages: readonly Message[]): string =>
  rfc8785(
    inOrderOfCalls(messages.filter(({ role }) => role !== 'system')).map(({ role, content }) => ({
      role,
      content: content.map(withoutIds),
    })),
  );
