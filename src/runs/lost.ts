import type { Database, Tx } from '../database/index.ts';
import type { WorkAhead } from './leases.ts';

const recoverAtOnce = 100;
/**
 * The longest time between two looks at what is due, in case a notification was lost. A look costs a few milliseconds.
 */
const longestSleepMs = 60_000;
/** Delay before an expired lease is checked again if another transaction has locked its row. */
const retryMs = 100;

/** Takes runs from workers that were lost, if a look has found that a lease expired. Returns them as they are now. */
export const recoverExpired = async <Row>(
  db: Database,
  { recoverLost }: { recoverLost(tx: Tx, limit: number): Promise<Row[]> },
  { nextIn }: WorkAhead,
): Promise<Row[]> => (nextIn === 0 ? db.tx((tx) => recoverLost(tx, recoverAtOnce)) : []);

/** Returns the time that a loop sleeps after a look, in milliseconds. */
export const sleepAfter = ({ nextIn }: WorkAhead): number =>
  Math.min(longestSleepMs, Math.max(retryMs, nextIn ?? longestSleepMs));
