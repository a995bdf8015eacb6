import type { approvalKinds } from '../lib/announcer.ts';
import type { Who } from '../lib/principal.ts';

/** The vocabulary of runs: what Work Items and runs of conversations have in common. */

export interface RunError {
  code: string;
  message: string;
}

/** A budget that had no room, for which a run waits. */
export interface BudgetWait {
  budget_id: string;
  /** The name of the budget. */
  name: string;
  period_id: string;
  /** The limit that left no room: a higher one may. */
  limit: number;
}

/** Request for a decision of a person, before which a run does not continue. */
export interface PendingApproval {
  approval_id: string;
  /** `budget`: an administrator decides whether the budget has more room in this period. */
  kind: (typeof approvalKinds)[number];
  tool_name: string | null;
  tool_server_id: string | null;
  arguments: Record<string, unknown> | null;
  input_schema: Record<string, unknown> | null;
  /** The names of the properties of `input_schema` in their order, which jsonb does not keep; not shown. */
  fields?: string[];
  reason: string | null;
  /** RFC 3339. */
  requested_at: string;
  expires_at: null;
  /** The call that it is about, and the definition of its tool at that time; not shown. Absent for external workers. */
  tool_call_id?: string;
  definition_hash?: string | null;
  /** The budget that it is about; not shown. */
  budget?: BudgetWait;
  /** How the tool asks for input. Absent but for the kind `input`, like the two below. */
  mode?: 'form' | 'url' | null;
  url?: string | null;
  round?: number | null;
  /** What the call was made with is not what the model gave: a person changed it; not shown. */
  edited?: boolean;
}

/** A pending approval before it is stored: the database adds the rest. */
export type NewApproval = Omit<PendingApproval, 'requested_at' | 'expires_at'>;

/** Decision of a person on one pending approval. */
export interface Decision {
  approval_id: string;
  decision: 'approve' | 'deny';
  /** Arguments in the place of those that were asked about. */
  arguments?: Record<string, unknown> | undefined;
  reason?: string | undefined;
}

/** Decision as it is stored for the next attempt. */
export interface StoredDecision extends Decision {
  /** Absent for external workers, like the two below. */
  tool_call_id?: string;
  definition_hash?: string | null;
  /** True if `arguments` are other ones than the model's. */
  edited?: boolean;
  /** True if the call goes on with what people answered, which is kept elsewhere. */
  input?: boolean;
}

/** The way in which a decision came. */
export type Via = 'api' | 'console' | 'slack' | 'expiry';

/** What was decided about one pending approval. */
export interface Verdict {
  decision: 'approve' | 'deny';
  /** Absent unless a person changed them. */
  executed_arguments?: Record<string, unknown>;
  decision_reason: string | null;
}

/** How the wait of a run for people ended, if a decision ended it. */
export interface ReviewEnd {
  state: 'decided' | 'expired';
  via: Via;
  /** By the ids of the approvals. */
  verdicts: Readonly<Record<string, Verdict>>;
}

/** The name in the history for what the platform does by itself. */
export const worker: Who = { kind: 'system', id: 'worker', name: 'worker' };

/** A claimed run and the fencing token of the claim: only its holder may write. */
export interface Lease {
  id: string;
  fencing: number;
  /** Default: the worker of the platform. */
  by?: Who;
}
