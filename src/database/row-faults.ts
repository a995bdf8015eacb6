/**
 * The classes of SQLSTATE that the data of one row can cause: a value out of range or malformed (22), a constraint
 * (23), a limit of the program such as an index entry that is too large (54), and an exception that a trigger raises
 * (P0).
 *
 * These are listed, and not the others, because the two mistakes differ in cost. If a row's fault is missing here,
 * what stores rows stops, logs that every few seconds, and resumes as after any outage when it is fixed. If a fault of
 * the deployment stood here, every row that is due would be given up. So these stay out: a missing privilege, table or
 * column (42), a missing database or schema (3D, 3F), a refused login (28), a cached plan that a migration outdated
 * (0A), transactions and locks (25, 40, 55), connections, resources and shutdowns (08, 53, 57, 58), and corruption
 * (XX), which may lie in a table that all rows go to.
 */
const rowFault = /^(22|23|54|P0)...$/;

/** The SQLSTATE of an error of the database: each has a digit, which `EPIPE` has not. */
export const sqlStateOf = (error: unknown): string | null => {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' && /^(?=.*[0-9])[0-9A-Z]{5}$/.test(code) ? code : null;
};

/** Returns whether a statement may have failed because of the data of one of its rows (poison). */
export const isRowFault = (error: unknown): boolean => rowFault.test(sqlStateOf(error) ?? '');
