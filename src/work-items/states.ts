/** The states of a Work Item and what moves it between them (product, section 6): the one table. */
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
 * What people do: from which state to which; from any other it is a 412. A cancel while EXECUTING stays there:
 * it asks the worker, whose result may have been committed first.
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

/** What the platform does: a claim takes PENDING to EXECUTING, all others end an execution. */
export const workerMoves = {
  claim: ['EXECUTING'],
  finish: ['COMPLETED', 'NEEDS_REVIEW', 'ERROR', 'CANCELLED'],
  retry: ['PENDING', 'ERROR', 'CANCELLED'],
  hand_back: ['PENDING', 'INDETERMINATE', 'CANCELLED'],
  lease_lost: ['PENDING', 'ERROR', 'INDETERMINATE', 'CANCELLED'],
} as const satisfies Record<string, readonly Status[]>;

/** Nothing happens to these any more unless a person restarts or continues them: `finished_at` is set. */
export const finishedStatuses = ['COMPLETED', 'ERROR', 'CANCELLED'] as const satisfies readonly Status[];

/** Where `action` leads from `status`; undefined where it is not allowed. */
export const nextStatus = (action: Action, status: Status): Status | undefined =>
  (actions[action] as Moves)[status];

/** What people may do with a Work Item that is `status`. Without its agent it can never be PENDING again. */
export const allowedActions = (status: Status, agentExists = true): Action[] =>
  actionNames.filter((action) => {
    const next = nextStatus(action, status);
    return next !== undefined && (agentExists || next !== 'PENDING');
  });
