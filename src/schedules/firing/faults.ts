import { messageOf } from '../../lib/errors.ts';

/**
 * A batch that advanced fewer schedules than it claimed: a trigger held a row back, or another transaction moved it.
 */
export class RowsNotMoved extends Error {
  override readonly name = 'RowsNotMoved';
}

/**
 * The classes of SQLSTATE that the data of one row can cause: a value out of range or malformed (22), a constraint
 * (23), a limit of the program such as an index entry that is too large (54), and an exception that a trigger raises
 * (P0).
 *
 * These are listed, and not the others, because the two mistakes differ in cost. If a row's fault is missing here,
 * firing stops, logs that every two seconds, and resumes as after any outage when it is fixed. If a fault of the
 * deployment stood here, every occurrence that is due in every schedule would be skipped. So these stay out: a missing
 * privilege, table or column (42), a missing database or schema (3D, 3F), a refused login (28), a cached plan that a
 * migration outdated (0A), transactions and locks (25, 40, 55), connections, resources and shutdowns (08, 53, 57, 58),
 * and corruption (XX), which may lie in a table that all rows go to.
 */
const rowFault = /^(22|23|54|P0)...$/;

/** The SQLSTATE of an error of the database: each has a digit, which `EPIPE` has not. */
const sqlStateOf = (error: unknown): string | null => {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' && /^(?=.*[0-9])[0-9A-Z]{5}$/.test(code) ? code : null;
};

/**
 * Returns whether a batch that failed with `error` may have failed because of the data of one of its rows (poison).
 */
export const isRowFault = (error: unknown): boolean =>
  error instanceof RowsNotMoved || rowFault.test(sqlStateOf(error) ?? '');

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
