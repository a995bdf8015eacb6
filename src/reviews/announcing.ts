import type { Executor, Tx } from '../database/index.ts';
import type { Announcer } from '../lib/announcer.ts';

/** What reviews need of those who tell people. */
export type ReviewAnnouncer = Omit<Announcer<Executor, Tx>, 'sendDueSteps'>;

const silent: ReviewAnnouncer = {
  decideRoleFor: async () => null,
  opened: async () => {},
  changed: async () => {},
  messagesOf: async () => new Map(),
};

/**
 * The one that reviews are announced by. Reviews open and close in transactions of Work Items and conversations, which know
 * nothing of those who are told.
 */
export let announcer: ReviewAnnouncer = silent;

/** From now on reviews are announced by `given`, which needs nothing but the database. */
export const announceBy = (given: ReviewAnnouncer): void => {
  announcer = given;
};
