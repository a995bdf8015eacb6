import { type MessagePart, type MessageRole, textOf, textPart } from '../messages/index.ts';

/** A tool call of a model. `fault` says why its arguments could not be read. */
export interface ToolCall {
  id: string;
  name: string;
  arguments: unknown;
  fault?: string;
}

/**
 * A reply as the provider gave it, reasoning with its signatures included. It is sent back to the same kind and model as
 * it is; other models get the message's text and tool calls.
 */
export interface ProviderParts {
  kind: string;
  model: string;
  /** Data that only the adapter of `kind` reads. The ids of tool calls in it are those of `tool_calls`. */
  parts: unknown;
}

/** A file of a user message. */
export interface MessageFile {
  file_id: string;
  name: string;
  media_type: string;
}

/** One message of a conversation, as every model gets it. */
export type Message =
  | { role: 'system'; text: string }
  | { role: 'user'; text: string; files?: readonly MessageFile[] }
  | { role: 'assistant'; text: string; tool_calls: ToolCall[]; provider_parts?: ProviderParts }
  | {
      role: 'tool';
      tool_call_id: string;
      tool_name: string;
      text: string;
      is_error: boolean;
      /** Arguments of the call if a person changed them. */
      executed_arguments?: Record<string, unknown>;
    };

/** Separates the message and the payload of a Work Item in the first user message. */
const payloadSeparator = '\n\nPayload (JSON):\n';

/** The user message that a Work Item begins with. An empty payload is left out. */
export const firstUserMessage = (message: string, payload: Record<string, unknown>): Message => ({
  role: 'user',
  text:
    Object.keys(payload).length === 0 ? message : `${message}${payloadSeparator}${JSON.stringify(payload)}`,
});

/** The two halves of what `firstUserMessage` made; the payload is null if there is none. */
export const splitUserMessage = (
  text: string,
): { message: string; payload: Record<string, unknown> | null } => {
  const at = text.lastIndexOf(payloadSeparator);
  if (at === -1) return { message: text, payload: null };
  try {
    const payload = JSON.parse(text.slice(at + payloadSeparator.length)) as Record<string, unknown>;
    return { message: text.slice(0, at), payload };
  } catch {
    return { message: text, payload: null };
  }
};

interface StoredMessage {
  role: MessageRole;
  content: readonly MessagePart[];
  provider_parts?: unknown;
}

/** The parts of a message, as they are stored. */
export const toContent = (message: Message): MessagePart[] => {
  switch (message.role) {
    case 'assistant': {
      const calls = message.tool_calls.map(
        ({ id, name, ...call }): MessagePart => ({
          type: 'tool_call',
          tool_call_id: id,
          tool_name: name,
          ...call,
        }),
      );
      return message.text === '' ? calls : [textPart(message.text), ...calls];
    }
    case 'tool': {
      const { role: _, ...result } = message;
      return [{ type: 'tool_result', ...result }];
    }
    default:
      return [textPart(message.text)];
  }
};

/** A stored message as models get it. */
export const fromStored = ({ role, content, provider_parts }: StoredMessage): Message => {
  const text = textOf(content);
  if (role === 'assistant') {
    const tool_calls = content.flatMap((part) => {
      if (part.type !== 'tool_call') return [];
      const { type: _, tool_call_id: id, tool_name: name, ...call } = part;
      return [{ id, name, ...call }];
    });
    const parts = provider_parts as ProviderParts | null | undefined;
    return { role, text, tool_calls, ...(parts ? { provider_parts: parts } : {}) };
  }
  const [first] = content;
  if (role === 'tool' && first?.type === 'tool_result') {
    const { type: _, ...result } = first;
    return { role, ...result };
  }
  return { role: role === 'system' ? 'system' : 'user', text };
};

/** The calls of the last assistant message that have no result yet, in their order. */
export const openCalls = (messages: readonly Message[]): ToolCall[] => {
  const at = messages.findLastIndex((message) => message.role === 'assistant');
  const last = messages[at];
  if (last?.role !== 'assistant') return [];
  const done = new Set(messages.slice(at).flatMap((m) => (m.role === 'tool' ? [m.tool_call_id] : [])));
  return last.tool_calls.filter((call) => !done.has(call.id));
};

/**
 * The conversation in the order that models accept: each tool result right after the message with its call, though a
 * person may have written something in between.
 */
export const inOrder = (messages: readonly Message[]): Message[] => {
  const ordered: Message[] = [];
  const moved = new Set<Message>();
  messages.forEach((message, at) => {
    if (moved.has(message)) return;
    ordered.push(message);
    if (message.role !== 'assistant') return;
    const wanted = new Set(message.tool_calls.map((call) => call.id));
    for (const later of messages.slice(at + 1)) {
      if (later.role === 'assistant') break;
      if (later.role !== 'tool' || !wanted.has(later.tool_call_id)) continue;
      ordered.push(later);
      moved.add(later);
    }
  });
  return ordered;
};
