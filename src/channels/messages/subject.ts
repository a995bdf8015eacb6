import type { Executor } from '../../database/index.ts';
import type { Role } from '../../lib/principal.ts';

/** Who did something, as the API shows it. */
interface ShownWho {
  kind: string;
  id: string;
  name: string;
}

/** An approval of a review, as the API shows it. */
interface ShownApproval {
  approval_id: string;
  kind: string;
  tool_name: string | null;
  arguments: Record<string, unknown> | null;
  reason: string | null;
  decision?: 'approve' | 'deny' | null | undefined;
  executed_arguments?: Record<string, unknown> | null | undefined;
}

type Time = Date | string;

/** A review, as the API shows it. */
export interface ShownReview {
  id: string;
  state: 'open' | 'decided' | 'expired' | 'withdrawn';
  source: 'work_item' | 'conversation';
  agent: { id: string; name: string } | null;
  name: string | null;
  reason: string | null;
  approvals: readonly ShownApproval[];
  required_role: Role;
  opened_at: Time;
  expires_at: Time | null;
  on_expiry: string | null;
  escalated_at: Time | null;
  closed_at: Time | null;
  closed_by: ShownWho | null;
}

/** An alert, as the API shows it. */
export interface ShownAlert {
  id: string;
  kind: string;
  severity: 'error' | 'warning' | 'info';
  subject: { type: string; id: string; name: string } | null;
  state: 'firing' | 'resolved';
  title: string;
  detail: string;
  fired_at: Time;
  resolved_at: Time | null;
  acknowledged_at: Time | null;
  acknowledged_by: ShownWho | null;
  note: string | null;
}

export type Subject = { type: 'review'; review: ShownReview } | { type: 'alert'; alert: ShownAlert };

/** Reads what messages are about; undefined for what is gone. */
export interface Subjects {
  readReview(executor: Executor, id: string): Promise<ShownReview | undefined>;
  readAlert(executor: Executor, id: string): Promise<ShownAlert | undefined>;
}

const eventTypes = [
  'review.opened',
  'review.closed',
  'alert.firing',
  'alert.acknowledged',
  'alert.resolved',
] as const;
export type EventType = (typeof eventTypes)[number];

/** What a message has to say at present. */
export const eventOf = (subject: Subject): EventType => {
  if (subject.type === 'review') return subject.review.state === 'open' ? 'review.opened' : 'review.closed';
  if (subject.alert.state === 'resolved') return 'alert.resolved';
  return subject.alert.acknowledged_at === null ? 'alert.firing' : 'alert.acknowledged';
};

/** When that became so. */
export const happenedAt = (subject: Subject): Date => {
  if (subject.type === 'review') {
    const { closed_at, opened_at } = subject.review;
    return new Date(closed_at ?? opened_at);
  }
  const { resolved_at, acknowledged_at, fired_at } = subject.alert;
  return new Date(resolved_at ?? acknowledged_at ?? fired_at);
};
