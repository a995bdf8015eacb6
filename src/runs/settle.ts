import { ApiError, type Fault, unprocessable } from '../lib/errors.ts';
import { compileArgumentCheck } from '../lib/json-schema.ts';
import { type DecidedArguments, decidedArguments } from './argument-changes.ts';
import type { RecordedDecision } from './recording.ts';
import type { Decision, PendingApproval, StoredDecision } from './types.ts';

/** Decisions of people, without tables. */

/** Message and decisions of a person who continues a run. */
export interface ContinueBody {
  message?: string | undefined;
  decisions?: readonly Decision[] | undefined;
  /** A message does not deny the tool calls that wait for approval: it is refused while there are any. */
  mustNotDecide?: boolean | undefined;
}

/** Consequences of the message and the decisions. */
export interface Settled {
  /** The calls that were approved, for the next attempt; what an external worker asked, with either decision. */
  decisions: StoredDecision[];
  /** The results of the calls that were denied. */
  refusals: { type: 'tool_result'; tool_call_id: string; tool_name: string; text: string; is_error: true }[];
  /** All decisions on calls, for those who replay the run. */
  made: RecordedDecision[];
  /** Details for the history, without arguments. */
  details: Record<string, unknown>;
  /** Details for the audit log, with the calls that people were asked about and those that are executed. */
  audited: Record<string, unknown>;
}

/** Returns pending approvals as people see them; none for null. */
export const shownApprovals = (pending: readonly PendingApproval[] | null | undefined) =>
  (pending ?? []).map(({ tool_call_id: _, definition_hash: __, ...approval }) => approval);

/** Throws 422 for decisions that contradict themselves, whatever waits. */
export const checkDecisions = (decisions: readonly Decision[]): void => {
  const faults: Fault[] = [];
  const seen = new Set<string>();
  for (const [i, { approval_id, decision, arguments: args }] of decisions.entries()) {
    const path = `decisions[${i}]`;
    if (seen.has(approval_id)) faults.push({ path: `${path}.approval_id`, message: 'is given twice' });
    seen.add(approval_id);
    if (decision === 'deny' && args !== undefined) {
      faults.push({ path: `${path}.arguments`, message: 'cannot be given with `deny`' });
    }
  }
  if (faults.length > 0) throw unprocessable(faults);
};

const faultsOf = (
  pending: PendingApproval,
  { decision, arguments: args }: Decision,
  path: string,
  messageField: string,
): Fault[] => {
  if (pending.kind === 'question') {
    return [{ path: `${path}.approval_id`, message: `is a question: reply to it with \`${messageField}\`` }];
  }
  if (decision === 'deny' || args === undefined) return [];
  const fault = compileArgumentCheck(
    pending.input_schema ?? {},
    `the arguments of the tool ${pending.tool_name}`,
  )(args);
  return fault === null ? [] : [{ path: `${path}.arguments`, message: fault }];
};

/** The beginning of the result of a call that a person refused. */
export const refusedByPerson = 'A person refused this call';

/** Returns what the model is told of a call that a person refused. */
export const refusalOfPerson = (reason: string | undefined): string =>
  `${refusedByPerson}${reason ? `: ${reason}` : ''}. Do not repeat it unless they ask for it.`;

/** The result that the model gets for a call that is not made. */
const refusalText = ({ kind }: PendingApproval, reason: string | undefined, denied: boolean): string => {
  const unknown = 'The call was interrupted; whether it took effect is not known.';
  if (!denied) return `${unknown} Find out before you repeat it.`;
  const refused = refusalOfPerson(reason);
  return kind === 'unknown_outcome' ? `${unknown} ${refused}` : refused;
};

/** The 412 for a message that must not decide, while these calls wait for approval. */
const waitsForPeople = (calls: readonly PendingApproval[]): ApiError => {
  const names = [...new Set(calls.map(({ tool_name }) => tool_name))].join(', ');
  const text = `Tool calls wait for approval: ${names}. People decide on them in the platform; until then the agent takes no message. Wait, or cancel.`;
  return new ApiError('precondition_failed', text);
};

/**
 * Applies what a person decided to what waits; `before` was decided earlier. Throws what `stale` returns for a decision
 * about something that does not wait, and 422. `messageField` is where the request has the message.
 */
export const settle = (
  pending: readonly PendingApproval[],
  before: readonly StoredDecision[],
  { message, decisions = [], mustNotDecide = false }: ContinueBody,
  stale: () => ApiError,
  messageField = 'message',
): Settled => {
  const byId = new Map(pending.map((approval) => [approval.approval_id, approval]));
  if (decisions.some(({ approval_id }) => !byId.has(approval_id))) throw stale();
  const faults = decisions.flatMap((decision, i) =>
    faultsOf(byId.get(decision.approval_id)!, decision, `decisions[${i}]`, messageField),
  );
  const decided = new Map(decisions.map((decision) => [decision.approval_id, decision]));
  const undecided = pending.filter(
    ({ kind, approval_id }) => kind === 'tool_call' && !decided.has(approval_id),
  );
  if (undecided.length > 0 && mustNotDecide) throw waitsForPeople(undecided);
  if (undecided.length > 0 && !message) {
    const ids = undecided.map(({ approval_id }) => approval_id).join(', ');
    const text = `must decide on each pending tool call (${ids}), or give \`${messageField}\``;
    faults.push({ path: 'decisions', message: text });
  }
  if (faults.length > 0) throw unprocessable(faults);

  // Calls that were approved before and not made yet, because the attempt failed before them.
  const kept = before.filter(
    ({ tool_call_id }) => tool_call_id && !pending.some((approval) => approval.tool_call_id === tool_call_id),
  );
  const settled: Settled = { decisions: kept, refusals: [], made: [], details: {}, audited: {} };
  const details: Record<string, unknown>[] = [];
  const compared: DecidedArguments[] = [];
  for (const approval of pending) {
    const { approval_id, kind, tool_name, tool_call_id, definition_hash = null } = approval;
    if (kind === 'question') continue;
    const given = decided.get(approval_id);
    const denied = given?.decision === 'deny' || (kind === 'tool_call' && !given);
    const reason = given ? given.reason : denied ? message : undefined;
    const decision = given?.decision ?? 'deny';
    const edited = given?.arguments !== undefined;
    details.push({ approval_id, kind, tool_name, decision, edited, ...(reason ? { reason } : {}) });
    const asked = approval.arguments ?? {};
    compared.push(decidedArguments(asked, denied ? null : (given?.arguments ?? asked)));
    const whole = { approval_id, decision, ...(reason ? { reason } : {}) };
    if (tool_call_id !== undefined) {
      const made = { tool_call_id, tool_name: tool_name ?? '', decision, ...(reason ? { reason } : {}) };
      settled.made.push(edited ? { ...made, arguments: given.arguments } : made);
    }
    if (tool_call_id === undefined) {
      settled.decisions.push({ ...whole, ...(given?.arguments ? { arguments: given.arguments } : {}) });
    } else if (decision === 'approve') {
      const args = given?.arguments ?? approval.arguments ?? {};
      settled.decisions.push({ ...whole, arguments: args, tool_call_id, definition_hash, edited });
    } else {
      const text = refusalText(approval, reason, denied);
      const result = { tool_call_id, tool_name: tool_name ?? '', text, is_error: true as const };
      settled.refusals.push({ type: 'tool_result', ...result });
    }
  }
  if (details.length === 0) return settled;
  // An entry about one call says it of itself.
  const audited =
    compared.length === 1
      ? { decisions: details, ...compared[0] }
      : {
          decisions: details,
          calls: details.map(({ approval_id }, i) => ({ approval_id, ...compared[i]! })),
        };
  return { ...settled, details: { decisions: details }, audited };
};
