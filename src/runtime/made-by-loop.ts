import { refusedByPerson, undecidedCall } from '../runs/index.ts';
import type { Message } from './messages.ts';
import { resultReminder, submitResultName, textReminder } from './result.ts';

/** Recognizes what the loop and the platform write into a conversation, for a replay in which they write it again. */
export const madeByLoop = {
  /** A user message that asks for a missing result. */
  isReminder: (text: string): boolean => text === resultReminder || text.startsWith(textReminder),

  /** A result of a call that no tool was called for, and that no person refused. */
  isResult: ({ tool_name, text, is_error }: Message & { role: 'tool' }): boolean =>
    tool_name === submitResultName ||
    (is_error && (text.startsWith('There is no tool ') || text.startsWith('The tool was not called: '))),

  /** The result of a call that a person refused, or that no one decided on in time. */
  isRefusalOfPerson: ({ text, is_error }: Message & { role: 'tool' }): boolean =>
    is_error && (text.startsWith(refusedByPerson) || text.startsWith(`${undecidedCall} `)),
};
