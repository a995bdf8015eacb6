import { isRowFault as isDataFault, sqlStateOf } from '../../database/index.ts';
import { messageOf } from '../../lib/errors.ts';

/**
 * A batch that advanced fewer schedules than it claimed: a trigger held a row back, or another transaction moved it.
 */
export class RowsNotMoved extends Error {
  override readonly name = 'RowsNotMoved';
}

/**
 * Returns whether a batch that failed with `error` may have failed because of the data of one of its rows (poison).
 */
export const isRowFault = (error: unknown): boolean => error instanceof RowsNotMoved || isDataFault(error);

/** Returns the reason why an occurrence was skipped, for users: the code says what it was, and the log the rest. */
export const skipReason = (fault: unknown): string => {
  const code = sqlStateOf(fault);
  return `the Work Item could not be made${code ? ` (error ${code})` : ''}`;
};

const remedyOf = (sqlState: string): string => {
  if (sqlState === '42501') return 'Give the database user its privileges back.';
  if (/^(42|3F|0A)/.test(sqlState)) return 'Bring the tables back to the schema of this release.';
  return 'See the log of the database.';
};

/** `error` as the log shows it: for a fault of the database also that nothing is lost, and what to do. */
export const describeFault = (error: unknown): unknown => {
  const sqlState = sqlStateOf(error);
  if (sqlState === null) return error;
  const message = `${messageOf(error)} (SQLSTATE ${sqlState}). Schedules do not fire; what is due waits and is retried. ${remedyOf(sqlState)}`;
  return new Error(message, { cause: error });
};
