/** The states of a Work Item and what moves it between them: the only table of them. */
export const statuses = [
  'DRAFT',
  'PENDING',
  'EXECUTING',
  'NEEDS_REVIEW',
  'INDETERMINATE',
  'COMPLETED',
  'ERROR',
  'CANCELLED',
] as const;

export type Status = (typeof statuses)[number];

type Moves = Readonly<Partial<Record<Status, Status>>>;

/**
 * Actions of people: from which state to which; from any other state the response is a 412. A cancel while EXECUTING
 * stays there: it is a request to the worker, whose result may have been committed first.
 */
export const actions = {
  submit: { DRAFT: 'PENDING' },
  cancel: {
    DRAFT: 'CANCELLED',
    PENDING: 'CANCELLED',
    EXECUTING: 'EXECUTING',
    NEEDS_REVIEW: 'CANCELLED',
    INDETERMINATE: 'CANCELLED',
  },
  continue: { NEEDS_REVIEW: 'PENDING', INDETERMINATE: 'PENDING', ERROR: 'PENDING' },
  restart: {
    NEEDS_REVIEW: 'PENDING',
    INDETERMINATE: 'PENDING',
    COMPLETED: 'PENDING',
    ERROR: 'PENDING',
    CANCELLED: 'PENDING',
  },
  complete: { NEEDS_REVIEW: 'COMPLETED', INDETERMINATE: 'COMPLETED', ERROR: 'COMPLETED' },
} as const satisfies Record<string, Moves>;

export type Action = keyof typeof actions;

export const actionNames = Object.keys(actions) as Action[];

/** The other end of `continue`: an administrator gives a budget, which a Work Item waits for, no more room. */
export const deniedByBudget = { NEEDS_REVIEW: 'ERROR' } as const satisfies Moves;

/** Moves of the platform: a claim moves PENDING to EXECUTING, all others end an execution. */
export const workerMoves = {
  claim: ['EXECUTING'],
  finish: ['COMPLETED', 'NEEDS_REVIEW', 'INDETERMINATE', 'ERROR', 'CANCELLED'],
  retry: ['PENDING', 'ERROR', 'CANCELLED'],
  hand_back: ['PENDING', 'INDETERMINATE', 'CANCELLED'],
  lease_lost: ['PENDING', 'ERROR', 'INDETERMINATE', 'CANCELLED'],
} as const satisfies Record<string, readonly Status[]>;

/** Nothing more happens in these unless a person restarts or continues the Work Item: `finished_at` is set. */
export const finishedStatuses = ['COMPLETED', 'ERROR', 'CANCELLED'] as const satisfies readonly Status[];

/** The statuses in which a Work Item waits for a person: each stay is a review. */
export const reviewStatuses = ['NEEDS_REVIEW', 'INDETERMINATE'] as const satisfies readonly Status[];

/** The statuses of a Work Item that its schedule takes for running (`overlap`). */
export const runningStatuses = [
  'PENDING',
  'EXECUTING',
  'NEEDS_REVIEW',
  'INDETERMINATE',
] as const satisfies readonly Status[];

/** The status to which `action` leads from `status`; undefined if it is not allowed. */
export const nextStatus = (action: Action, status: Status): Status | undefined =>
  (actions[action] as Moves)[status];

/** Returns whether `action` makes a Work Item PENDING, which requires that its agent exists. */
export const leadsToPending = (action: Action): boolean =>
  Object.values<Status>(actions[action]).includes('PENDING');

/** The actions that a Work Item with `status` allows. Without its agent it can never be PENDING again. */
export const allowedActions = (status: Status, agentExists = true): Action[] =>
  actionNames.filter((action) => {
    const next = nextStatus(action, status);
    return next !== undefined && (agentExists || next !== 'PENDING');
  });
