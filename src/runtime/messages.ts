/** A tool that the model wants called. `fault` says why its arguments could not be read. */
export interface ToolCall {
  id: string;
  name: string;
  arguments: unknown;
  fault?: string;
}

/** One entry of a conversation, as it is stored and as every model is given it. */
export type Message =
  | { role: 'system'; text: string }
  | { role: 'user'; text: string }
  | { role: 'assistant'; text: string; tool_calls: ToolCall[] }
  | { role: 'tool'; tool_call_id: string; tool_name: string; text: string; is_error: boolean };

/** Stands between the message and the payload of a Work Item in the first user message. */
const payloadMark = '\n\nPayload (JSON):\n';

/** The user message that a Work Item begins with. An empty payload is left out. */
export const firstUserMessage = (message: string, payload: Record<string, unknown>): Message => ({
  role: 'user',
  text: Object.keys(payload).length === 0 ? message : `${message}${payloadMark}${JSON.stringify(payload)}`,
});

/** The two halves of what `firstUserMessage` made; the payload is null where there is none. */
export const splitUserMessage = (
  text: string,
): { message: string; payload: Record<string, unknown> | null } => {
  const at = text.lastIndexOf(payloadMark);
  if (at === -1) return { message: text, payload: null };
  try {
    const payload = JSON.parse(text.slice(at + payloadMark.length)) as Record<string, unknown>;
    return { message: text.slice(0, at), payload };
  } catch {
    return { message: text, payload: null };
  }
};
