export const messageRoles = ['system', 'user', 'assistant', 'tool'] as const;
export type MessageRole = (typeof messageRoles)[number];

/** A part of a message, as it is stored and shown. */
export type MessagePart =
  | { type: 'text'; text: string }
  | {
      type: 'tool_call';
      tool_call_id: string;
      tool_name: string;
      arguments: unknown;
      /** Why the arguments could not be read. Stored for the next attempt; not shown. */
      fault?: string;
    }
  | { type: 'tool_result'; tool_call_id: string; tool_name: string; text: string; is_error: boolean };

export const textPart = (text: string): MessagePart => ({ type: 'text', text });

/** What earlier releases stored for an assistant or a tool; for the other roles it was the text alone. */
interface EarlierContent {
  text: string;
  tool_calls?: { id: string; name: string; arguments: unknown; fault?: string }[];
  tool_call_id: string;
  tool_name: string;
  is_error: boolean;
}

/** The parts that a stored message consists of, also if an earlier release stored it. */
export const toParts = (content: unknown): MessagePart[] => {
  if (Array.isArray(content)) return content as MessagePart[];
  if (typeof content === 'string') return [textPart(content)];
  const { text, tool_calls, tool_call_id, tool_name, is_error } = content as EarlierContent;
  if (tool_calls === undefined) return [{ type: 'tool_result', tool_call_id, tool_name, text, is_error }];
  const calls = tool_calls.map(
    ({ id, name, ...call }): MessagePart => ({
      type: 'tool_call',
      tool_call_id: id,
      tool_name: name,
      ...call,
    }),
  );
  return text === '' ? calls : [textPart(text), ...calls];
};
