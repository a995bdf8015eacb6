/** The kinds of things that need attention, in the order in which they are shown. */
export const attentionKinds = [
  'no_scheduler',
  'no_worker',
  'no_delivery',
  'alerts_firing',
  'schedule_overdue',
  'schedule_blocked',
  'occurrences_skipped',
  'trigger_blocked',
  'trigger_behind',
  'events_invalid',
  'webhooks_refused',
  'work_items_error',
  'work_items_indeterminate',
  'work_items_pending',
  'reviews_waiting',
  'publish_blocked',
  'canary_aborted',
  'budget_exhausted',
  'budget_warning',
  'price_missing',
  'channel_failing',
  'integration_paused',
  'integration_retrying',
  'integration_behind',
  'dead_letters',
  'spans_expired',
  'audit_broken',
  'key_expiring',
] as const;
type AttentionKind = (typeof attentionKinds)[number];

export const severities = ['error', 'warning', 'info'] as const;
type Severity = (typeof severities)[number];

export const subjectTypes = [
  'schedule',
  'agent',
  'work_item',
  'integration',
  'api_key',
  'budget',
  'channel',
  'trigger',
] as const;

/** One line of what needs attention. */
export interface Attention {
  kind: AttentionKind;
  severity: Severity;
  /** The number of things that the line stands for. */
  count: number;
  since: Date | null;
  /** The thing that it is about; null if that is not one thing. */
  subject: { type: (typeof subjectTypes)[number]; id: string; name: string } | null;
  /** The problem, in one sentence without a full stop. */
  title: string;
  /** The reason and what it means, in sentences. */
  detail: string;
  /** The filter of the page that its link opens. */
  filter: Record<string, string>;
}

/** More things of one kind than this share one line. */
export const mostLines = 5;

/** By severity, then in the order of the kinds, the oldest first. */
export const sorted = (lines: readonly Attention[]): Attention[] =>
  [...lines].sort(
    (a, b) =>
      severities.indexOf(a.severity) - severities.indexOf(b.severity) ||
      attentionKinds.indexOf(a.kind) - attentionKinds.indexOf(b.kind) ||
      (a.since?.getTime() ?? 0) - (b.since?.getTime() ?? 0),
  );

/**
 * One line for each of `rows`. If they are more than `mostLines`, one line for all: that of the first, which is an
 * example, with what `together` says of all of them.
 */
export const linesOf = <R>(
  rows: readonly R[],
  lineOf: (row: R) => Attention,
  together: (first: R, example: Attention) => Partial<Attention>,
): Attention[] => {
  if (rows.length <= mostLines) return rows.map(lineOf);
  const example = lineOf(rows[0]!);
  return [{ ...example, subject: null, ...together(rows[0]!, example) }];
};
