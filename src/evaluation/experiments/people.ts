import type { NewApproval } from '../../runs/index.ts';
import { refusalOfPerson } from '../../runs/index.ts';
import type { Message, RunStart } from '../../runtime/index.ts';
import type { Matcher, Tape } from './tape.ts';

/** People in a trial: they decide and say what they did when the case was recorded. */

export type Approvals = 'auto_approve' | 'auto_deny';

/** How a trial that stopped for people goes on. */
export interface Continued {
  /** The calls that are made next. */
  approved: RunStart['approved'];
  /** The results of those that are not, and then what was said. */
  messages: Message[];
  /** Calls that nothing recorded decides on, to be treated as calls that are not on the tape. */
  undecided: NewApproval[];
}

const noOne: Record<Approvals, string> = { auto_approve: 'Go on.', auto_deny: 'No one can answer.' };

const resultOf = ({ tool_call_id, tool_name }: NewApproval, text: string): Message => ({
  role: 'tool',
  tool_call_id: tool_call_id!,
  tool_name: tool_name ?? '',
  text,
  is_error: true,
});

/**
 * Decides on what a trial asks. A recorded call is decided on as it was. Another one is refused with `auto_deny`, and
 * undecided with `auto_approve`. A question gets the recorded reply, in the order of the tape, and then a fixed one.
 */
export const continueRecorded = (
  approvals: readonly NewApproval[],
  { tape, matcher, mode }: { tape: Tape; matcher: Matcher; mode: Approvals },
): Continued => {
  const continued: Continued = { approved: [], messages: [], undecided: [] };
  const approved: RunStart['approved'][number][] = [];
  const steps: number[] = [];
  for (const approval of approvals) {
    const { kind, tool_name, tool_call_id, arguments: args, definition_hash = null } = approval;
    if (kind === 'question') {
      const asked = matcher.reserved(tool_call_id!);
      if (asked) steps.push(asked.step);
      continue;
    }
    const entry = matcher.reserve(tool_call_id!, {
      toolName: tool_name!,
      arguments: args,
      idempotent: false,
    });
    if (!entry) {
      if (mode === 'auto_approve') continued.undecided.push(approval);
      else continued.messages.push(resultOf(approval, refusalOfPerson(undefined)));
      continue;
    }
    steps.push(entry.step);
    if (entry.denied) continued.messages.push(resultOf(approval, entry.text));
    else {
      const edited = entry.executed !== undefined;
      approved.push({
        tool_call_id: tool_call_id!,
        arguments: entry.executed ?? args ?? {},
        edited,
        definition_hash,
      });
    }
  }
  continued.approved = approved;
  const asksQuestion = approvals.some(({ kind }) => kind === 'question');
  const said = tape.said.filter((one) => !one.used && one.answers === 'calls');
  // What was said to the recorded calls; to a question that was worded otherwise, what was said next.
  const reply =
    said.find((one) => steps.includes(one.step)) ??
    (asksQuestion && steps.length === 0 ? said[0] : undefined);
  if (reply) {
    reply.used = true;
    continued.messages.push({ role: 'user', text: reply.text });
  } else if (asksQuestion && steps.length === 0) {
    continued.messages.push({ role: 'user', text: noOne[mode] });
  }
  return continued;
};

/** Returns what a person said after the recorded run had ended; null if nothing more. */
export const saidAfterEnd = (tape: Tape, replies: number): string | null => {
  const said = tape.said.find((one) => !one.used && one.answers === 'end' && one.step < replies);
  if (!said) return null;
  said.used = true;
  return said.text;
};
