import { compileArgumentCheck } from '../lib/json-schema.ts';
import type { Message } from './messages.ts';
import type { Tool } from './tools.ts';

export const submitResultName = 'submit_result';

/** The user message after a reply without the result. */
export const resultReminder =
  'Your result is missing. Call the tool submit_result with it; text alone is not accepted.';

/** Reminder for a model that does not get the tool, with the schema that the tool would have had. */
export const textReminder =
  'Your result is missing. Reply with JSON alone, an object that fits this JSON Schema:';

export const textReminderFor = ({ inputSchema }: Pick<Tool, 'inputSchema'>): string =>
  `${textReminder}\n${JSON.stringify(inputSchema)}`;

/** The tool by which an agent with a `result_schema` returns its result. The loop takes its calls itself. */
export const submitResultTool = (schema: Record<string, unknown>): Tool => ({
  name: submitResultName,
  description: 'Submit the result of your work. This ends it: call it once, at the end.',
  inputSchema: { type: 'object', ...schema },
  idempotent: true,
  policy: 'allow',
  serverId: null,
  definitionHash: null,
  check: compileArgumentCheck(schema, 'the result of an agent'),
  call: async () => ({ text: 'The result was accepted.' }),
});

/** Returns whether the model was reminded since a person last wrote something. */
export const wasReminded = (messages: readonly Message[]): boolean => {
  const last = messages.findLast(({ role }) => role === 'user');
  return last?.text === resultReminder || last?.text.startsWith(textReminder) === true;
};
