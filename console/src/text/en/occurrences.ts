import { catalog } from '../catalog.ts';
import { duration, number, plural } from '../format.ts';

export const occurrences = catalog({
  fired: 'Fired.',
  firedLate: (lateness: number) => `Fired ${duration(lateness)} late.`,
  caughtUp: (lateness: number) => `Caught up ${duration(lateness)} late.`,
  skipped: 'Skipped. No reason is recorded.',
  missing: 'Nothing is recorded of it.',
  skippedOrMissing: 'Skipped or missing',
  runBy: (name: string) => `Run by ${name}.`,
  runByHand: 'Run by hand.',
  more: (count: number) => `and ${number(count)} more`,
  workItemOf: (id: string) => `Work Item ${id}`,
  completedIn: (milliseconds: number) => `completed in ${duration(milliseconds)}`,
  failedAfter: (attempts: number) =>
    `failed after ${plural(attempts, { one: '# attempt', other: '# attempts' })}`,
  workItem: {
    DRAFT: 'draft',
    PENDING: 'waits for its turn',
    EXECUTING: 'executing',
    NEEDS_REVIEW: 'waits for a person',
    INDETERMINATE: 'outcome is not known',
    COMPLETED: 'completed',
    ERROR: 'failed',
    CANCELLED: 'cancelled',
  },
});
