import { catalog } from '../catalog.ts';
import { list } from '../format.ts';

/** What is known of an open review next to what waits. */
export const reviewNote = catalog({
  until: 'Decide by {at}, {relative}: {else}.',
  otherwise: {
    deny: 'otherwise it is denied',
    cancel: 'otherwise it is cancelled',
    escalate: 'otherwise others are notified',
  },
  escalated: 'No one had decided by {at}; it goes on waiting.',
  sent: (to: readonly string[]) => `Sent to ${list(to)}.`,
  notSent: (to: readonly string[]) => `Not delivered to ${list(to)}.`,
  pending: (to: readonly string[]) => `Being sent to ${list(to)}.`,
  to: (channel: string, person: string) => `${channel} (${person})`,
  open: 'Approval page',
});
