import { differences } from '../../lib/differences.ts';
import { localTime } from '../../lib/times.ts';
import { cut, manyLines, oneLine, shortJson, shownJson } from './clean.ts';
import { type EventType, eventOf, type ShownAlert, type ShownReview, type Subject } from './subject.ts';

/** A call or question that a review waits for. */
interface NoticeCall {
  /** What it is: `Tool` with its name, or `Question`. */
  title: string;
  reason: string | null;
  /** JSON; null: it has none, or they are not shown. */
  arguments: string | null;
}

/** What a message says, in any channel. All its texts are clean: no control characters, and nothing that turns text around. */
export interface Notice {
  type: EventType;
  /** What it is about, on one line. */
  title: string;
  facts: readonly { label: string; value: string }[];
  calls: readonly NoticeCall[];
  /** What became of it; null while it is open. */
  outcome: string | null;
  /** The arguments that someone edited: `amount: 12480 → 480`. */
  edits: readonly string[];
  /** The page on which people decide. It has no token. */
  link: string;
  severity: 'error' | 'warning' | 'info';
}

const longestTitle = 140;
const longestFact = 500;
const longestReason = 1_000;
const mostEdits = 10;
const longestEdit = 200;

/** `02:31 UTC`. */
const timeOf = (at: Date | string): string => `${localTime(new Date(at).getTime())} UTC`;

/** `2026-01-31 02:31 UTC`. */
const momentOf = (at: Date | string): string => `${new Date(at).toISOString().slice(0, 10)} ${timeOf(at)}`;

const fact = (label: string, value: string | null | undefined) =>
  value === null || value === undefined || value === ''
    ? []
    : [{ label, value: cut(oneLine(value), longestFact) }];

const callTitle = ({ kind, tool_name }: ShownReview['approvals'][number]): string => {
  const tool = tool_name === null ? '' : oneLine(tool_name);
  switch (kind) {
    case 'tool_call':
      return `Tool ${tool}`;
    case 'unknown_outcome':
      return `Unknown outcome of ${tool || 'a call'}`;
    case 'input':
      return `${tool || 'A tool'} asks for input`;
    case 'budget':
      return 'A budget is used up';
    default:
      return 'Question';
  }
};

/** Returns whether a review only asks: nothing of it is a call. */
const onlyAsks = ({ approvals }: ShownReview): boolean =>
  approvals.length > 0 && approvals.every(({ kind }) => kind === 'question');

const verbOf = (review: ShownReview): string => {
  if (onlyAsks(review) || review.approvals.length === 0) return 'Answered';
  return review.approvals.some(({ decision }) => decision === 'approve') ? 'Approved' : 'Denied';
};

/** `Approved by Ada Lovelace, 02:31 UTC`; null while it is open. */
const reviewOutcome = (review: ShownReview): string | null => {
  const { state, closed_at, closed_by } = review;
  if (state === 'open') return null;
  const when = closed_at === null ? '' : `, ${timeOf(closed_at)}`;
  if (state === 'expired') return `Expired${when}`;
  if (state === 'withdrawn') return `Withdrawn${when}`;
  return `${verbOf(review)} by ${oneLine(closed_by?.name ?? 'someone')}${when}`;
};

/** `Ada Lovelace approved this at 02:31 UTC.`; null while it is open. */
export const reviewSentence = (review: ShownReview): string | null => {
  const { state, closed_at, closed_by } = review;
  if (state === 'open') return null;
  const when = closed_at === null ? '' : ` at ${timeOf(closed_at)}`;
  if (state !== 'decided') return `This ${state === 'expired' ? 'expired' : 'was withdrawn'}${when}.`;
  return `${oneLine(closed_by?.name ?? 'Someone')} ${verbOf(review).toLowerCase()} this${when}.`;
};

const untilOf = ({ expires_at, on_expiry }: ShownReview): string | null => {
  if (expires_at === null) return null;
  const then =
    on_expiry === 'cancel' ? ', then it is cancelled' : on_expiry === 'deny' ? ', then it is denied' : '';
  return `${momentOf(expires_at)}${then}`;
};

/** The call that an edit belongs to; nothing if there is only one. Several calls may be of the same tool, so each has its number. */
const whichCall = (tool: string | null, at: number, all: number): string =>
  all === 1 ? '' : `Call ${at + 1} of ${all} (${cut(oneLine(tool ?? ''), longestEdit)}), `;

const editsOf = ({ approvals }: ShownReview): string[] =>
  approvals
    .flatMap(({ kind, tool_name, arguments: before, executed_arguments: after }, at, { length }) =>
      // Answers to a tool are not shown: they may be secrets.
      kind === 'tool_call' && after
        ? differences(before ?? {}, after).map((edit) => ({
            ...edit,
            call: whichCall(tool_name, at, length),
          }))
        : [],
    )
    .slice(0, mostEdits)
    .map(({ call, path, from, to }) => {
      const [before, after] = [shortJson(from, longestEdit), shortJson(to, longestEdit)];
      return `${call}${cut(oneLine(path), longestEdit)}: ${before} → ${after}`;
    });

const reviewNotice = (
  review: ShownReview,
  { publicUrl, withArguments }: { publicUrl: string; withArguments: boolean },
): Omit<Notice, 'type'> => {
  const agent = review.agent === null ? 'An agent' : oneLine(review.agent.name);
  const [first] = review.approvals;
  const what =
    review.approvals.length > 1
      ? `${review.approvals.length} decisions`
      : first === undefined || first.kind === 'question'
        ? 'an answer'
        : first.kind === 'tool_call' && first.tool_name !== null
          ? `a decision on ${oneLine(first.tool_name)}`
          : 'a decision';
  return {
    title: cut(`${agent} waits for ${what}`, longestTitle),
    facts: [
      ...fact('Agent', review.agent?.name),
      ...fact(review.source === 'work_item' ? 'Work Item' : 'Conversation', review.name),
      ...fact('Reason', review.reason),
      ...fact('Who may decide', `${review.required_role} or higher`),
      ...fact('Until', review.state === 'open' ? untilOf(review) : null),
      ...fact(
        'Escalated',
        review.state === 'open' && review.escalated_at ? momentOf(review.escalated_at) : null,
      ),
    ],
    calls: review.approvals.map((approval) => ({
      title: cut(callTitle(approval), longestTitle),
      reason: approval.reason === null ? null : cut(manyLines(approval.reason), longestReason),
      arguments: withArguments && approval.arguments !== null ? shownJson(approval.arguments) : null,
    })),
    outcome: reviewOutcome(review),
    edits: withArguments ? editsOf(review) : [],
    link: `${publicUrl}/approve/${review.id}`,
    severity: 'warning',
  };
};

/** What became of an alert: `Acknowledged by Ada Lovelace, 02:31 UTC`, `Resolved, 02:31 UTC`; null while it is new. */
const alertOutcome = ({
  state,
  resolved_at,
  acknowledged_at,
  acknowledged_by,
}: ShownAlert): string | null => {
  if (state === 'resolved') return `Resolved${resolved_at === null ? '' : `, ${timeOf(resolved_at)}`}`;
  if (acknowledged_at === null) return null;
  return `Acknowledged by ${oneLine(acknowledged_by?.name ?? 'someone')}, ${timeOf(acknowledged_at)}`;
};

const alertNotice = (alert: ShownAlert, { publicUrl }: { publicUrl: string }): Omit<Notice, 'type'> => ({
  title: cut(oneLine(alert.title), longestTitle),
  facts: [
    ...fact('Severity', alert.severity),
    ...fact('About', alert.subject?.name),
    ...fact('Detail', alert.detail),
    ...fact('Fired', momentOf(alert.fired_at)),
    ...fact('Resolved', alert.resolved_at && momentOf(alert.resolved_at)),
    ...fact('Note', alert.note),
  ],
  calls: [],
  outcome: alertOutcome(alert),
  edits: [],
  link: `${publicUrl}/alerts/${alert.id}`,
  severity: alert.severity,
});

/** `withArguments`: whether the arguments of calls are shown. */
export const noticeOf = (subject: Subject, given: { publicUrl: string; withArguments: boolean }): Notice => ({
  type: eventOf(subject),
  ...(subject.type === 'review' ? reviewNotice(subject.review, given) : alertNotice(subject.alert, given)),
});
