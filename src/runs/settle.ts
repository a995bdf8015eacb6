import { ApiError, type Fault, unprocessable } from '../lib/errors.ts';
import { compileArgumentCheck } from '../lib/json-schema.ts';
import type { InputAnswer } from '../tool-inputs/index.ts';
import { type DecidedArguments, decidedArguments } from './argument-changes.ts';
import { inOrderOfFields } from './field-order.ts';
import { answerFaults, answerOf } from './input-answers.ts';
import type { RecordedDecision } from './recording.ts';
import type { BudgetWait, Decision, PendingApproval, RunError, StoredDecision, Verdict } from './types.ts';

/** Decisions of people, without tables. */

/** Message and decisions of a person who continues a run. */
export interface ContinueBody {
  message?: string | undefined;
  decisions?: readonly Decision[] | undefined;
  /** A message does not deny the tool calls that wait for approval: it is refused while there are any. */
  mustNotDecide?: boolean | undefined;
  /** No one decided within this time, such as `4 h`: what waits is denied. */
  undecidedFor?: string | undefined;
}

/** What an administrator decided about a budget. */
export interface BudgetDecision extends BudgetWait {
  approved: boolean;
  /** What is added to the limit of the period. */
  extra: number;
  reason: string | null;
  /** No one decided within this time. */
  undecidedFor?: string | undefined;
}

/** Consequences of the message and the decisions. */
export interface Settled {
  /** The calls that were approved, for the next attempt; what an external worker asked, with either decision. */
  decisions: StoredDecision[];
  /** The results of the calls that were denied. */
  refusals: { type: 'tool_result'; tool_call_id: string; tool_name: string; text: string; is_error: true }[];
  /** The decision on a budget; null if none was asked for. */
  budget: BudgetDecision | null;
  /** What people answered to tools, by the ids of the approvals. It is kept apart until the calls end. */
  answers: Record<string, InputAnswer>;
  /** All decisions on calls, for those who replay the run. */
  made: RecordedDecision[];
  /** The decision on each approval but questions, by its id. */
  verdicts: Record<string, Verdict>;
  /** Details for the history, without arguments. */
  details: Record<string, unknown>;
  /** Details for the audit log, with the calls that people were asked about and those that are executed. */
  audited: Record<string, unknown>;
}

/** The error of a run that ends because a budget gets no more room. */
export const budgetDenied = ({ name, reason, undecidedFor }: BudgetDecision): RunError => ({
  code: 'budget_exceeded',
  message: undecidedFor
    ? `The budget ${name} got no more room: ${noOneDecided(undecidedFor)}.`
    : `An administrator gave the budget ${name} no more room${reason ? `: ${reason}` : '.'}`,
});

/** Returns pending approvals as people see them, with when their review expires; none for null. */
export const shownApprovals = (
  pending: readonly PendingApproval[] | null | undefined,
  review: { expires_at: string | null } | null | undefined,
) =>
  (pending ?? []).map(({ tool_call_id: _, definition_hash: __, budget: ___, edited: ____, ...approval }) => ({
    ...inOrderOfFields(approval),
    mode: approval.mode ?? null,
    url: approval.url ?? null,
    round: approval.round ?? null,
    expires_at: review?.expires_at ?? null,
  }));

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
  if (pending.kind === 'input') return answerFaults(pending, decision, args, path);
  if (decision === 'deny' || args === undefined) return [];
  const what = pending.kind === 'budget' ? 'the arguments' : `the arguments of the tool ${pending.tool_name}`;
  const fault = compileArgumentCheck(pending.input_schema ?? {}, what)(args);
  return fault === null ? [] : [{ path: `${path}.arguments`, message: fault }];
};

/** The beginning of the result of a call that a person refused. */
export const refusedByPerson = 'A person refused this call';

/** Returns what the model is told of a call that a person refused. */
export const refusalOfPerson = (reason: string | undefined): string =>
  `${refusedByPerson}${reason ? `: ${reason}` : ''}. Do not repeat it unless they ask for it.`;

/** The beginning of the result of a call that no one decided on in time. */
export const undecidedCall = 'No one decided within';

const noOneDecided = (time: string): string => `${undecidedCall} ${time}`;

/** What is said to the model for a person who was asked and did not reply within this time. */
export const noReplyWithin = (time: string): string => `No one replied within ${time}.`;

/** The result that the model gets for a call that is not made. */
const refusalText = (
  { kind }: PendingApproval,
  reason: string | undefined,
  denied: boolean,
  undecidedFor: string | undefined,
): string => {
  if (undecidedFor)
    return `${noOneDecided(undecidedFor)}: this call was not made. Do not repeat it unless a person asks for it.`;
  const unknown = 'The call was interrupted; whether it took effect is not known.';
  if (!denied) return `${unknown} Find out before you repeat it.`;
  const refused = refusalOfPerson(reason);
  return kind === 'unknown_outcome' ? `${unknown} ${refused}` : refused;
};

/** The 412 for a message that must not decide, while these calls wait for approval. */
const waitsForPeople = (calls: readonly PendingApproval[]): ApiError => {
  if (calls.some(({ kind }) => kind === 'budget')) {
    const text =
      'A budget is used up, and an administrator decides whether it has more room. Until then the agent takes no message. Wait, or cancel.';
    return new ApiError('precondition_failed', text);
  }
  const names = [...new Set(calls.map(({ tool_name }) => tool_name))].join(', ');
  const text = `Tool calls wait for approval: ${names}. People decide on them in the platform; until then the agent takes no message. Wait, or cancel.`;
  return new ApiError('precondition_failed', text);
};

/** What waits until someone decides on it, or on all of it with a message. */
const needsDecision: ReadonlySet<PendingApproval['kind']> = new Set(['tool_call', 'budget', 'input']);

/**
 * Applies what a person decided to what waits; `before` was decided earlier. Throws what `stale` returns for a decision
 * about something that does not wait, and 422. `messageField` is where the request has the message.
 */
export const settle = (
  pending: readonly PendingApproval[],
  before: readonly StoredDecision[],
  { message, decisions = [], mustNotDecide = false, undecidedFor }: ContinueBody,
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
    ({ kind, approval_id }) => needsDecision.has(kind) && !decided.has(approval_id),
  );
  if (undecided.length > 0 && mustNotDecide) throw waitsForPeople(undecided);
  if (undecided.length > 0 && !message && !undecidedFor) {
    const ids = undecided.map(({ approval_id }) => approval_id).join(', ');
    const text = `must decide on each pending approval (${ids}), or give \`${messageField}\``;
    faults.push({ path: 'decisions', message: text });
  }
  if (faults.length > 0) throw unprocessable(faults);

  // Calls that were approved before and not made yet, because the attempt failed before them.
  const kept = before.filter(
    ({ tool_call_id }) => tool_call_id && !pending.some((approval) => approval.tool_call_id === tool_call_id),
  );
  const settled: Settled = {
    decisions: kept,
    refusals: [],
    budget: null,
    answers: {},
    made: [],
    verdicts: {},
    details: {},
    audited: {},
  };
  const details: Record<string, unknown>[] = [];
  const compared: DecidedArguments[] = [];
  for (const approval of pending) {
    const { approval_id, kind, tool_name, tool_call_id, definition_hash = null } = approval;
    if (kind === 'question') continue;
    const given = decided.get(approval_id);
    const denied = given?.decision === 'deny' || (needsDecision.has(kind) && !given);
    const unsaid = undecidedFor ? `${noOneDecided(undecidedFor)}.` : message;
    const reason = given ? given.reason : denied ? unsaid : undefined;
    const decision = given?.decision ?? 'deny';
    if (kind === 'input') {
      const answer = answerOf(approval, given, undecidedFor);
      settled.answers[approval_id] = answer;
      settled.verdicts[approval_id] = { decision, decision_reason: reason ?? null };
      const fields = Object.keys(answer.content ?? {});
      const of = { approval_id, kind, tool_name, decision };
      details.push({ ...of, ...(fields.length > 0 ? { fields } : {}), ...(reason ? { reason } : {}) });
      const asked = approval.arguments ?? {};
      compared.push(decidedArguments(asked, denied ? null : asked));
      // The call goes on with whatever was answered, once for all that it asks.
      if (!settled.decisions.some((one) => one.tool_call_id === tool_call_id)) {
        const whole = { approval_id, decision: 'approve' as const, arguments: asked };
        const call = { ...(tool_call_id === undefined ? {} : { tool_call_id }), definition_hash };
        settled.decisions.push({ ...whole, ...call, edited: approval.edited ?? false, input: true });
      }
      continue;
    }
    const edited = given?.arguments !== undefined;
    settled.verdicts[approval_id] = {
      decision,
      ...(edited ? { executed_arguments: given.arguments } : {}),
      decision_reason: reason ?? null,
    };
    details.push({ approval_id, kind, tool_name, decision, edited, ...(reason ? { reason } : {}) });
    const asked = approval.arguments ?? {};
    compared.push(decidedArguments(asked, denied ? null : (given?.arguments ?? asked)));
    if (approval.budget) {
      const { extra } = { ...asked, ...given?.arguments } as { extra: number };
      settled.budget = { ...approval.budget, approved: !denied, extra, reason: reason ?? null, undecidedFor };
      continue;
    }
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
      const text = refusalText(approval, reason, denied, undecidedFor);
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
