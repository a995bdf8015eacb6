import type { PendingApproval, ShownCall, ShownMessage, ToolCallPart } from './types.ts';

/** Messages with their calls put together with the results, which are messages of their own. */
export interface Paired {
  /** Without those that have only results of calls that are shown. */
  messages: readonly ShownMessage[];
  calls: ReadonlyMap<ToolCallPart, ShownCall>;
  /** Waiting calls that are not among the messages. */
  unmatched: readonly PendingApproval[];
}

interface Located extends ShownCall {
  at: number | null;
}

export const newCall = (call: ToolCallPart): ShownCall => ({
  call,
  result: null,
  took: null,
  wholeCall: null,
  wholeResult: null,
  approval: null,
});

const text = (value: unknown): string => JSON.stringify(value ?? {});

/** An approval does not name its call: it is the last one of this tool, with these arguments, that has no result. */
const matchApprovals = (
  open: readonly Located[],
  pending: readonly PendingApproval[],
): readonly PendingApproval[] =>
  pending.filter((approval) => {
    const free = open.filter((each) => each.approval === null && each.call.tool_name === approval.tool_name);
    const same = free.filter(({ call }) => text(call.arguments) === text(approval.arguments));
    const match = same.at(-1) ?? free.at(-1);
    if (match) match.approval = approval;
    return !match;
  });

/** Selects the approvals that a person can grant: a question wants a reply. */
export const decidable = (pending: readonly PendingApproval[]): readonly PendingApproval[] =>
  pending.filter(({ kind }) => kind !== 'question');

/**
 * Puts each call together with its result and with what a person is asked about it. `messages` are oldest first. A result
 * belongs to the last call with its id, because some providers use an id again.
 */
export const pairCalls = (
  messages: readonly ShownMessage[],
  pending: readonly PendingApproval[] = [],
): Paired => {
  const calls: Located[] = [];
  const shown = messages.filter(({ content, created_at, whole = null }) => {
    const at = created_at === null ? null : Date.parse(created_at);
    const alone = content.filter((part) => {
      const wholePart = part.cut ? whole : null;
      if (part.type === 'tool_call') calls.push({ ...newCall(part), wholeCall: wholePart, at });
      if (part.type !== 'tool_result') return true;
      const of = calls.findLast(({ call, result }) => !result && call.tool_call_id === part.tool_call_id);
      if (of) {
        const took = at === null || of.at === null ? null : Math.max(0, at - of.at);
        Object.assign(of, { result: part, took, wholeResult: wholePart });
      }
      return !of;
    });
    return alone.length > 0 || content.length === 0;
  });
  const unmatched = matchApprovals(
    calls.filter(({ result }) => !result),
    decidable(pending),
  );
  return { messages: shown, calls: new Map(calls.map((each) => [each.call, each])), unmatched };
};
