export const messageRoles = ['system', 'user', 'assistant', 'tool'] as const;
export type MessageRole = (typeof messageRoles)[number];

/** A part of a message, as it is shown. */
export type MessagePart =
  | { type: 'text'; text: string }
  | {
      type: 'tool_call';
      tool_call_id: string;
      tool_name: string;
      arguments: unknown;
      /** Reason why the arguments could not be read. Stored for the next attempt; not shown. */
      fault?: string;
    }
  | {
      type: 'tool_result';
      tool_call_id: string;
      tool_name: string;
      text: string;
      is_error: boolean;
      /** Arguments of the call that was made, if a person changed them. */
      executed_arguments?: Record<string, unknown>;
    };

/** The text of a message, without its calls and results. */
export const textOf = (parts: readonly MessagePart[]): string =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join('');

export const textPart = (text: string): MessagePart => ({ type: 'text', text });

/** Stored content of the message of an assistant or a tool. For the other roles it is the text alone. */
interface StoredContent {
  text: string;
  tool_calls?: { id: string; name: string; arguments: unknown; fault?: string }[];
  tool_call_id: string;
  tool_name: string;
  is_error: boolean;
  executed_arguments?: Record<string, unknown>;
}

/**
 * The content as the release before stores and reads it, so that replicas of both releases can continue one
 * conversation; the parts themselves if that release has no form for them. `toParts` reads both.
 */
export const toStored = (role: MessageRole, parts: readonly MessagePart[]): unknown => {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  if (role === 'assistant' && texts.length <= 1) {
    const tool_calls = parts.flatMap((part) => {
      if (part.type !== 'tool_call') return [];
      const { type: _, tool_call_id: id, tool_name: name, ...call } = part;
      return [{ id, name, ...call }];
    });
    return { text: texts[0] ?? '', tool_calls };
  }
  const [first] = parts;
  if (parts.length !== 1 || !first) return parts;
  if (first.type === 'text') return first.text;
  const { type: _, ...result } = first;
  return result;
};

/** The parts of a stored message. */
export const toParts = (content: unknown): MessagePart[] => {
  if (Array.isArray(content)) return content as MessagePart[];
  if (typeof content === 'string') return [textPart(content)];
  const { text, tool_calls, ...result } = content as StoredContent;
  if (tool_calls === undefined) return [{ type: 'tool_result', text, ...result }];
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
