import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type Action,
  actionNames,
  allowedActions,
  finishedStatuses,
  nextStatus,
  type Status,
  statuses,
  workerMoves,
} from './states.ts';

/** The table of states, written a second time, as rules. */
const model = (action: Action, from: Status): Status | undefined => {
  switch (action) {
    case 'submit':
      return from === 'DRAFT' ? 'PENDING' : undefined;
    case 'cancel':
      if (from === 'EXECUTING') return 'EXECUTING';
      return ['DRAFT', 'PENDING', 'NEEDS_REVIEW', 'INDETERMINATE'].includes(from) ? 'CANCELLED' : undefined;
    case 'continue':
      return ['NEEDS_REVIEW', 'INDETERMINATE', 'ERROR'].includes(from) ? 'PENDING' : undefined;
    case 'restart':
      return ['DRAFT', 'PENDING', 'EXECUTING'].includes(from) ? undefined : 'PENDING';
    case 'complete':
      return ['NEEDS_REVIEW', 'INDETERMINATE', 'ERROR'].includes(from) ? 'COMPLETED' : undefined;
  }
};

test('every action from every state leads where the description says, or nowhere', () => {
  for (const action of actionNames) {
    for (const from of statuses)
      expect([action, from, nextStatus(action, from)]).toEqual([action, from, model(action, from)]);
  }
});

test('the allowed actions are exactly those that lead somewhere', () => {
  for (const from of statuses) {
    expect(allowedActions(from)).toEqual(actionNames.filter((action) => model(action, from)));
  }
});

test('without its agent a Work Item is never allowed to become PENDING', () => {
  for (const from of statuses) {
    expect(allowedActions(from, false).map((action) => nextStatus(action, from))).not.toContain('PENDING');
  }
});

test('whatever people and workers do, a Work Item can still be brought to a finished state', () => {
  const step = fc.constantFrom<readonly (Action | keyof typeof workerMoves)[]>(
    ...[...actionNames, ...(Object.keys(workerMoves) as (keyof typeof workerMoves)[])].map((one) => [one]),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(step, fc.nat()), { maxLength: 60 }), (steps) => {
      let now: Status = 'DRAFT';
      for (const [[name], choice] of steps) {
        if (name! in workerMoves) {
          const from = name === 'claim' ? 'PENDING' : 'EXECUTING';
          const to = workerMoves[name as keyof typeof workerMoves];
          if (now === from) now = to[choice % to.length]!;
        } else now = nextStatus(name as Action, now) ?? now;
      }
      const ends = (finishedStatuses as readonly Status[]).includes(now);
      expect(ends || allowedActions(now).includes('cancel')).toBe(true);
    }),
  );
});
