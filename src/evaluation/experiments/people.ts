import { type NewApproval, refusalOfPerson } from '../../runs/index.ts';
import type { Message, RunStart } from '../../runtime/index.ts';
import type { Continued, Matcher } from './tape.ts';

/** People in a trial: they decide and say what they did when the case was recorded. */

export type Approvals = 'auto_approve' | 'auto_deny';

/** Calls and messages with which a trial that stopped for people resumes. */
export interface Answer {
  /** The calls that are made next. */
  approved: RunStart['approved'];
  /** The results of those that are not, and then what was said. */
  messages: Message[];
  /** Calls that nothing recorded decides on: they are treated as calls that are not on the tape. */
  undecided: NewApproval[];
}

const noOne: Record<Approvals, string> = { auto_approve: 'Go on.', auto_deny: 'No one can answer.' };

const refused = ({ tool_call_id, tool_name }: NewApproval, text: string): Message => ({
  role: 'tool',
  tool_call_id: tool_call_id!,
  tool_name: tool_name ?? '',
  text,
  is_error: true,
});

/**
 * Decides on what a trial asks. With a recorded continuation, a recorded call is decided on as it was and its message is
 * said. Beyond those, a call is refused with `auto_deny`; with `auto_approve` a recorded call has its result, and another
 * one is undecided.
 */
export const answerFor = (
  approvals: readonly NewApproval[],
  recorded: Continued | null,
  { matcher, mode }: { matcher: Matcher; mode: Approvals },
): Answer => {
  const approved: RunStart['approved'][number][] = [];
  const messages: Message[] = [];
  const undecided: NewApproval[] = [];
  for (const approval of approvals) {
    const { kind, tool_name, tool_call_id, arguments: args, definition_hash = null } = approval;
    if (kind === 'question') continue;
    if (recorded === null && mode === 'auto_deny') {
      messages.push(refused(approval, refusalOfPerson(undefined)));
      continue;
    }
    const call = { toolName: tool_name!, arguments: args, idempotent: false };
    const entry = matcher.reserved(tool_call_id!) ?? matcher.reserve(tool_call_id!, call);
    if (!entry) {
      if (mode === 'auto_approve') undecided.push(approval);
      else messages.push(refused(approval, refusalOfPerson(undefined)));
    } else if (entry.denied) messages.push(refused(approval, entry.text));
    else {
      const executed = entry.executed ?? args ?? {};
      const edited = entry.executed !== undefined;
      approved.push({ tool_call_id: tool_call_id!, arguments: executed, edited, definition_hash });
    }
  }
  const asksQuestion = approvals.some(({ kind }) => kind === 'question');
  const said = recorded ? recorded.message : asksQuestion ? noOne[mode] : null;
  if (said !== null) messages.push({ role: 'user', text: said });
  return { approved, messages, undecided };
};
