import { type Instructions, jsonSchema, type ModelMessage, type Output, type ToolSet, tool } from 'ai';
import type { Message, MessageFile } from '../messages.ts';
import type { StepRequest } from '../step.ts';

/** Marks of a provider on a message: `{anthropic: {cacheControl: …}}`. */
export type Marks = NonNullable<ModelMessage['providerOptions']>;

/**
 * Resolves to the bytes of a file of the conversation, or null if this model does not get them: images of up to 5 MB
 * are sent, other files are only named.
 */
export type LoadFile = (file: MessageFile) => Promise<Uint8Array | null>;

/** Only to its own kind and model: another one refuses the reasoning of the first. */
const ownParts = (
  { provider_parts: own }: Extract<Message, { role: 'assistant' }>,
  kind: string,
  model: string,
): ModelMessage[] | null =>
  own?.kind === kind && own.model === model && Array.isArray(own.parts) ? own.parts : null;

const userContent = async (
  { text, files }: Extract<Message, { role: 'user' }>,
  loadFile: LoadFile | undefined,
): Promise<Extract<ModelMessage, { role: 'user' }>['content']> => {
  if (!files?.length) return text;
  const parts = await Promise.all(
    files.map(async (file) => {
      const data = (await loadFile?.(file)) ?? null;
      return data === null
        ? { type: 'text' as const, text: `[file ${file.name}, ${file.media_type}: not passed on]` }
        : { type: 'file' as const, data, mediaType: file.media_type };
    }),
  );
  return text === '' ? parts : [{ type: 'text', text }, ...parts];
};

/**
 * The message as text alone, for a request without tools: providers refuse calls and results of tools that the request
 * does not have.
 */
const withoutTools = (message: Message): Message => {
  if (message.role === 'assistant' && message.tool_calls.length > 0) {
    const calls = message.tool_calls.map(
      ({ name, arguments: args }) => `[Called ${name} with ${JSON.stringify(args ?? {})}]`,
    );
    return { role: 'assistant', text: [message.text, ...calls].filter(Boolean).join('\n'), tool_calls: [] };
  }
  if (message.role !== 'tool') return message;
  return { role: 'user', text: `[Result of ${message.tool_name}]\n${message.text}` };
};

/** The conversation without its instructions, for the model `model` of the kind `kind`. */
export const toModelMessages = async (
  given: readonly Message[],
  {
    kind,
    model,
    loadFile,
    hasTools,
  }: {
    kind: string;
    model: string;
    loadFile?: LoadFile | undefined;
    hasTools: boolean;
  },
): Promise<ModelMessage[]> => {
  const messages = hasTools ? given : given.map(withoutTools);
  const converted: ModelMessage[] = [];
  for (const message of messages) {
    switch (message.role) {
      case 'system':
        break;
      case 'user':
        converted.push({ role: 'user', content: await userContent(message, loadFile) });
        break;
      case 'assistant': {
        const parts = ownParts(message, kind, model);
        if (parts) converted.push(...parts);
        else {
          const text = message.text === '' ? [] : [{ type: 'text' as const, text: message.text }];
          const calls = message.tool_calls.map(({ id, name, arguments: input }) => ({
            type: 'tool-call' as const,
            toolCallId: id,
            toolName: name,
            input,
          }));
          converted.push({ role: 'assistant', content: [...text, ...calls] });
        }
        break;
      }
      case 'tool': {
        const { tool_call_id: toolCallId, tool_name: toolName, text: value, is_error } = message;
        const output = { type: is_error ? ('error-text' as const) : ('text' as const), value };
        converted.push({ role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output }] });
      }
    }
  }
  return converted;
};

/** The instructions of the conversation, with the marks of a provider; undefined if there are none. */
export const toInstructions = (
  messages: readonly Message[],
  marks: Marks | undefined,
): Instructions | undefined => {
  const text = messages.flatMap((message) => (message.role === 'system' ? [message.text] : [])).join('\n\n');
  if (text === '') return undefined;
  return marks ? { role: 'system', content: text, providerOptions: marks } : text;
};

/** `messages` with the marks of a provider on the last one. */
export const markLast = (messages: ModelMessage[], marks: Marks | undefined): ModelMessage[] => {
  const last = messages.at(-1);
  if (!last || !marks) return messages;
  return [...messages.slice(0, -1), { ...last, providerOptions: { ...last.providerOptions, ...marks } }];
};

/** The tools without `execute`: the SDK then returns calls instead of making them, and takes one step. */
export const toToolSet = (tools: StepRequest['tools']): ToolSet =>
  Object.fromEntries(
    tools.map(({ name, description, inputSchema }) => [
      name,
      tool({ description, inputSchema: jsonSchema<unknown>(inputSchema) }),
    ]),
  );

/** A reply in JSON. The text is returned as it is: the caller parses it, and it may not fit the schema. */
export const toOutput = (schema: Record<string, unknown>): Output.Output<string, string, never> => ({
  name: 'extraction',
  responseFormat: Promise.resolve({ type: 'json', name: 'extraction', schema }),
  parseCompleteOutput: async ({ text }) => text,
  parsePartialOutput: async ({ text }) => ({ partial: text }),
  createElementStreamTransform: () => undefined,
});
