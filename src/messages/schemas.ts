import { z } from 'zod';
import { jsonObject, jsonValue } from '../http/index.ts';

export const messagePart = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('text'), text: z.string() }).meta({ id: 'TextPart' }),
    z
      .object({
        type: z.literal('tool_call'),
        tool_call_id: z.string(),
        tool_name: z.string(),
        arguments: jsonValue.describe('What the model passes to the tool.'),
      })
      .meta({ id: 'ToolCallPart' }),
    z
      .object({
        type: z.literal('tool_result'),
        tool_call_id: z.string().describe('The `tool_call_id` of the call.'),
        tool_name: z.string(),
        text: z.string(),
        is_error: z.boolean().describe('The call failed; `text` is what the model received.'),
        executed_arguments: jsonObject
          .optional()
          .describe('What the tool was called with; only where a person changed the arguments.'),
      })
      .meta({ id: 'ToolResultPart' }),
  ])
  .meta({ id: 'MessagePart' });

const cut = z
  .literal(true)
  .optional()
  .describe('Only the beginning is there. Arguments that are cut are the beginning of their JSON text.');

/** Fields of a message on a page: the beginning of its content, if it is long. */
export const shownContent = {
  content: z.array(z.intersection(messagePart, z.object({ cut }))),
  bytes: z.int().describe('The size of the whole content as it is downloaded.'),
  cut: z.boolean().describe('Whether the content is cut, after 16 KB.'),
};
