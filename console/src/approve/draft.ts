import type { DecideReviewBody, Decision, Review, ReviewApproval } from '../api/types.gen.ts';
import { answersOf, firstValues, type InputValues, inputFields } from '../messages/input.ts';
import { asksInput, prettyJson } from '../messages/values.ts';
import { readObject } from '../resource/json.ts';
import { approve as words } from '../text/en/approve.ts';
import { input } from '../text/en/input.ts';

/** A call as the review has it. */
export type Asked = ReviewApproval;

/** What a person chose and wrote about one call, and has not sent. */
export interface CallDraft {
  chosen?: Decision['decision'] | undefined;
  /** The edited arguments, as text. */
  edited?: string | undefined;
  reason?: string | undefined;
  answers?: InputValues | undefined;
  /** The address that a tool asks for was opened. */
  opened?: boolean | undefined;
}

export interface Draft {
  calls: Readonly<Record<string, CallDraft>>;
  reply: string;
}

export const emptyDraft: Draft = { calls: {}, reply: '' };

export const isEmpty = ({ calls, reply }: Draft): boolean =>
  reply === '' &&
  Object.values(calls).every(({ edited, reason, answers }) => !edited && !reason && answers === undefined);

/** The arguments as text, with characters that turn text around or can not be seen as what they are. */
export const shownJson = (value: unknown): string =>
  prettyJson(value).replaceAll(
    /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** `value` with its keys in the order of `like`: the order of keys is no change. */
export const orderedLike = (like: unknown, value: unknown): unknown => {
  if (Array.isArray(value)) {
    const others = Array.isArray(like) ? like : [];
    return value.map((each, i) => orderedLike(others[i], each));
  }
  if (typeof value !== 'object' || value === null) return value;
  const [own, other] = [value as Record<string, unknown>, (like ?? {}) as Record<string, unknown>];
  const first = Object.keys(other).filter((key) => Object.hasOwn(own, key));
  const keys = [...first, ...Object.keys(own).filter((key) => !first.includes(key))];
  return Object.fromEntries(keys.map((key) => [key, orderedLike(other[key], own[key])]));
};

/** The edited arguments: null if they are no JSON object, undefined if they are those that were asked about. */
export const editedArguments = (
  { arguments: asked }: Pick<Asked, 'arguments'>,
  { edited }: CallDraft,
): Record<string, unknown> | null | undefined => {
  if (edited === undefined) return undefined;
  const written = readObject(edited);
  if (written === null) return null;
  return JSON.stringify(orderedLike(asked, written)) === JSON.stringify(asked ?? {}) ? undefined : written;
};

/** The calls that a person decides about; a question wants a reply. */
export const callsOf = ({ approvals }: Review): Asked[] =>
  approvals.filter(({ kind }) => kind !== 'question');

/** The name of the region of a call; with several it has a number. */
export const nameOf = (call: Asked, at: number, all: number): string => {
  if (all === 1) return asksInput(call) ? input.title : words.call;
  return asksInput(call) ? words.inputOf(at + 1, all) : words.callOf(at + 1, all);
};

/** The decision that a draft makes; null if something in it is wrong. */
export const decisionOf = (
  approval: Asked,
  draft: CallDraft,
  decision: Decision['decision'],
): Decision | null => {
  const { approval_id } = approval;
  const reason = draft.reason?.trim();
  if (decision === 'deny') return { approval_id, decision, ...(reason ? { reason } : {}) };
  if (asksInput(approval)) {
    if (approval.mode === 'url') return { approval_id, decision };
    const fields = inputFields(approval.input_schema);
    const { answers, faults } = answersOf(fields, draft.answers ?? firstValues(fields));
    return Object.keys(faults).length > 0 ? null : { approval_id, decision, arguments: answers };
  }
  const args = editedArguments(approval, draft);
  if (args === null) return null;
  return { approval_id, decision, ...(args ? { arguments: args } : {}) };
};

/** What is sent for several calls; null until each is decided. */
export const bodyOf = (calls: readonly Asked[], draft: Draft): DecideReviewBody | null => {
  const decisions = calls.map((call) => {
    const own = draft.calls[call.approval_id] ?? {};
    return own.chosen ? decisionOf(call, own, own.chosen) : null;
  });
  return decisions.includes(null) ? null : { decisions: decisions as Decision[] };
};
