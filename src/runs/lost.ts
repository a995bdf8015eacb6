import type { Database, Tx } from '../database/index.ts';
import type { WorkAhead } from './leases.ts';

const recoverAtOnce = 100;
/**
 * The longest time between two looks at what is due, in case a notification was lost. A look costs a few milliseconds.
 */
const longestSleepMs = 60_000;
/** Delay before an expired lease is checked again if another transaction has locked its row. */
const retryMs = 100;

/** Returns what a loop does after a look for work: `recoverLost` takes up to `limit` runs from lost workers. */
export const loopOf = <Row>(recoverLost: (tx: Tx, limit: number) => Promise<Row[]>) => ({
  /** Takes runs from workers that were lost, if the look has found an expired lease. Returns them as they are now. */
  recoverExpired: async (db: Database, { nextIn }: WorkAhead): Promise<Row[]> =>
    nextIn === 0 ? db.tx((tx) => recoverLost(tx, recoverAtOnce)) : [],

  /** The sleep of the loop after the look, in milliseconds. */
  sleepAfter: ({ nextIn }: WorkAhead): number =>
    Math.min(longestSleepMs, Math.max(retryMs, nextIn ?? longestSleepMs)),
});
