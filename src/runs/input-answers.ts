import type { Fault } from '../lib/errors.ts';
import { checkAnswers, type InputAnswer } from '../tool-inputs/index.ts';
import type { Decision, PendingApproval } from './types.ts';

/** The faults of an answer to a tool. */
export const answerFaults = (
  { mode, input_schema }: PendingApproval,
  decision: Decision['decision'],
  args: Decision['arguments'],
  path: string,
): Fault[] => {
  if (decision === 'deny') return [];
  const field = `${path}.arguments`;
  if (mode === 'url') {
    return args === undefined
      ? []
      : [{ path: field, message: 'cannot be given: the tool asks for no answers' }];
  }
  if (args === undefined) return [{ path: field, message: 'is required: the answers for the tool' }];
  const { fault } = checkAnswers(input_schema ?? {}, args);
  return fault === undefined ? [] : [{ path: field, message: fault }];
};

/** What the tool gets. No one decided: the protocol has its own word for that. */
export const answerOf = (
  { mode, input_schema }: PendingApproval,
  given: Decision | undefined,
  undecidedFor: string | undefined,
): InputAnswer => {
  if (given?.decision === 'approve') {
    if (mode === 'url') return { action: 'accept' };
    return {
      action: 'accept',
      content: checkAnswers(input_schema ?? {}, given.arguments ?? {}).content ?? {},
    };
  }
  return { action: undecidedFor && !given ? 'cancel' : 'decline' };
};
