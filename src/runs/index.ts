import { approvalsOf } from './approvals.ts';
import { attemptsOf } from './attempts.ts';
import { checkBudgetDecider, checkDeciders } from './deciders.ts';
import { endingsOf } from './endings.ts';
import type { Moved, RunKind, RunRow } from './kind.ts';
import { leasesOf } from './leases.ts';
import { loopOf } from './lost.ts';
import { settle } from './settle.ts';

export type { AttemptStart } from './attempts.ts';
export { budgetApproval, budgetWaitOf } from './budget-review.ts';
export type { Ending } from './endings.ts';
export { inOrderOfFields, withFields } from './field-order.ts';
export type { Moved, RunRow } from './kind.ts';
export type { Claimer } from './leases.ts';
export type { MoveReason } from './move.ts';
export type { Continuation, RecordedDecision, RecordedMessage, Recording } from './recording.ts';
export { decisionList, pendingApproval } from './schemas.ts';
export {
  type BudgetDecision,
  budgetDenied,
  type ContinueBody,
  noReplyWithin,
  refusalOfPerson,
  refusedByPerson,
  shownApprovals,
  undecidedCall,
} from './settle.ts';
export type {
  BudgetWait,
  Lease,
  NewApproval,
  PendingApproval,
  ReviewEnd,
  RunError,
  Verdict,
  Via,
} from './types.ts';

/** Operations on the runs of one kind. Each function is one or a few statements of the given transaction. */
export interface Runs<Row extends RunRow>
  extends ReturnType<typeof leasesOf<Row>>,
    ReturnType<typeof loopOf<Moved<Row>>>,
    ReturnType<typeof endingsOf<Row>>,
    ReturnType<typeof attemptsOf<Row>>,
    ReturnType<typeof approvalsOf<Row>> {
  checkDeciders: typeof checkDeciders;
  checkBudgetDecider: typeof checkBudgetDecider;
  settle: typeof settle;
}

export const createRuns = <Row extends RunRow>(kind: RunKind<Row>): Runs<Row> => {
  const endings = endingsOf(kind);
  return {
    ...leasesOf(kind),
    ...loopOf(endings.recoverLost),
    ...endings,
    ...attemptsOf(kind),
    ...approvalsOf(kind),
    checkDeciders,
    checkBudgetDecider,
    settle,
  };
};
