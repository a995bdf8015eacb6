import type { severities } from './attention.ts';
import type { Role } from './principal.ts';

/** What people are asked for. */
export const approvalKinds = ['tool_call', 'question', 'unknown_outcome', 'budget', 'input'] as const;

/** What an alert is fired for. */
export const alertKinds = [
  'missed',
  'late',
  'failing',
  'waiting',
  'integration',
  'tool_server',
  'budget',
  'trigger',
  'no_scheduler',
] as const;

/** A review or an alert that people are told of. */
export type Announced = { type: 'review'; id: string } | { type: 'alert'; id: string };

/** What the routes of reviews look at. */
export interface ReviewFacts {
  source: 'work_item' | 'conversation';
  agentId: string;
  /** `name`: the tool as the model calls it; null for what is no call. */
  approvals: readonly {
    kind: string;
    name: string | null;
    arguments: Record<string, unknown> | null;
  }[];
}

/** What the routes of alerts look at. */
export interface AlertFacts {
  /** The kind of the rule. */
  kind: string;
  /** The agent of the subject; null if it has none. */
  agentId: string | null;
  severity: (typeof severities)[number];
}

/** Who a message goes to: the channel's conversation or endpoint, an address, or a person. */
type Recipient = string | { user_id: string; name: string };

export const messageStates = ['pending', 'delivered', 'failed'] as const;

/** One message of a review or an alert, as the API shows it. */
export interface SentMessage {
  channel_id: string;
  channel_name: string;
  /** `channel`, an e-mail address, or a person. */
  to: Recipient;
  state: (typeof messageStates)[number];
  attempts: number;
  /** Reason why the last attempt failed, without secrets. */
  last_error: string | null;
  next_attempt_at: Date | null;
  delivered_at: Date | null;
}

/** What happened to a review or an alert after it was announced. `resolved` is of an alert, `escalated` of a review. */
type AnnouncedChange = 'closed' | 'escalated' | 'acknowledged' | 'resolved';

/**
 * Tells people of reviews and alerts: messages in channels, by routes. `Executor` and `Tx` are those of the database,
 * which this folder does not know. Nothing here talks to a foreign server: messages are rows of the given transaction.
 */
export interface Announcer<Executor, Tx extends Executor> {
  /**
   * Returns the highest `decide_role` of the routes that a review finds; null if none asks for one. Called in the
   * transaction in which it opens, because a later change of a route changes nothing.
   */
  decideRoleFor(tx: Tx, facts: ReviewFacts): Promise<Role | null>;
  /** Copies the steps of the routes that it finds. Called once, in the transaction in which it opens. */
  opened(
    tx: Tx,
    what:
      | { type: 'review'; id: string; facts: ReviewFacts }
      | { type: 'alert'; id: string; facts: AlertFacts },
  ): Promise<void>;
  /**
   * Makes its messages due again, in the transaction of the change. After `escalated` the steps that were not sent yet
   * are sent; after any other change they are dropped.
   */
  changed(tx: Tx, what: Announced, change: AnnouncedChange): Promise<void>;
  /** Returns the messages of each of these by its id, oldest first; an id without messages is absent. */
  messagesOf(
    executor: Executor,
    type: Announced['type'],
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, SentMessage[]>>;
  /** Sends the steps whose time has come. One replica at a time calls it, in a transaction of its own. */
  sendDueSteps(tx: Tx): Promise<void>;
}
