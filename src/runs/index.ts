import { approvalsOf } from './approvals.ts';
import { attemptsOf } from './attempts.ts';
import { endingsOf } from './endings.ts';
import type { RunKind, RunRow } from './kind.ts';
import { leasesOf } from './leases.ts';

export { forgotten, nothingAsked } from './approvals.ts';
export type { ApprovedCall, AttemptStart } from './attempts.ts';
export { checkDeciders } from './deciders.ts';
export type { Ending } from './endings.ts';
export type { Moved, RunKind, RunRow } from './kind.ts';
export type { Claimer } from './leases.ts';
export { recoverExpired, sleepAfter } from './lost.ts';
export type { MoveReason } from './move.ts';
export { decisionList, pendingApproval } from './schemas.ts';
export { type ContinueBody, type Settled, settle, shownApprovals } from './settle.ts';
export {
  type Lease,
  type NewApproval,
  type PendingApproval,
  type RunError,
  type StoredDecision,
  type Who,
  worker,
} from './types.ts';

/** What can be done with the runs of one kind: every function is one or a few statements of the given transaction. */
export interface Runs<Row extends RunRow>
  extends ReturnType<typeof leasesOf<Row>>,
    ReturnType<typeof endingsOf<Row>>,
    ReturnType<typeof attemptsOf<Row>>,
    ReturnType<typeof approvalsOf<Row>> {}

export const createRuns = <Row extends RunRow>(kind: RunKind<Row>): Runs<Row> => ({
  ...leasesOf(kind),
  ...endingsOf(kind),
  ...attemptsOf(kind),
  ...approvalsOf(kind),
});
