import type { TraceSpanDetail } from '../api/types.gen.ts';
import type { ShownMessage } from '../messages/index.ts';
import { traces as words } from '../text/en/traces.ts';

type Parts = ShownMessage['content'];
type Part = Parts[number];

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** JSON as the conventions have it in an attribute: as a text, or as it is. */
const read = (value: unknown): unknown => {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
};

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');

const partOf = (part: unknown): Part => {
  if (!isObject(part)) return { type: 'text', text: textOf(part) };
  const id = textOf(part.id ?? part.tool_call_id ?? '');
  if (part.type === 'tool_call') {
    return {
      type: 'tool_call',
      tool_call_id: id,
      tool_name: textOf(part.name ?? ''),
      arguments: read(part.arguments),
    };
  }
  if (part.type === 'tool_call_response') {
    const text = textOf(part.response ?? part.result ?? '');
    return {
      type: 'tool_result',
      tool_call_id: id,
      tool_name: textOf(part.name ?? ''),
      text,
      is_error: false,
    };
  }
  const content = part.content ?? part.text;
  return { type: 'text', text: content === undefined ? textOf(part) : textOf(content) };
};

const roles = ['system', 'user', 'assistant', 'tool'] as const;

const messageOf = (message: unknown, id: string, fallback: ShownMessage['role']): ShownMessage => {
  const found = isObject(message) ? message : { content: message };
  const role = roles.find((one) => one === found.role) ?? fallback;
  const parts = Array.isArray(found.parts) ? found.parts : [found.content ?? found];
  return { id, role, author: words.roles[role], created_at: null, content: parts.map(partOf) };
};

const listOf = (value: unknown): unknown[] => {
  const found = read(value);
  return Array.isArray(found) ? found : found === undefined ? [] : [found];
};

/**
 * The messages that the attributes of a span have, by the conventions of OpenTelemetry for generative AI, and those of
 * OpenInference. What has another form is shown as text.
 */
export const messagesOf = ({ attributes }: Pick<TraceSpanDetail, 'attributes'>): ShownMessage[] => {
  const instructions = listOf(attributes['gen_ai.system_instructions']);
  const input = listOf(attributes['gen_ai.input.messages'] ?? attributes['input.value']);
  const output = listOf(attributes['gen_ai.output.messages'] ?? attributes['output.value']);
  return [
    ...(instructions.length === 0
      ? []
      : [messageOf({ role: 'system', parts: instructions }, 'instructions', 'system')]),
    ...input.map((message, i) => messageOf(message, `input-${i}`, 'user')),
    ...output.map((message, i) => messageOf(message, `output-${i}`, 'assistant')),
  ];
};

/** What a tool was called with, and what it said, as text. */
export const callOf = ({ attributes }: Pick<TraceSpanDetail, 'attributes'>) => ({
  arguments: attributes['gen_ai.tool.call.arguments'],
  result: attributes['gen_ai.tool.call.result'],
});
