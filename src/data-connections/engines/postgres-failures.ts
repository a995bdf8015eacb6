import { codeOf } from '../../lib/foreign-socket.ts';
import { ConnectionFailure, QueryFailure } from './failures.ts';
import { timedOut } from './watch.ts';

const isSqlState = (code: string): boolean => /^[0-9A-Z]{5}$/.test(code);

export const signInFailure = (error: unknown): ConnectionFailure => {
  if (error instanceof ConnectionFailure) return error;
  const code = codeOf(error);
  if (code === '3D000') return new ConnectionFailure('authentication', 'The database does not exist.');
  if (code.startsWith('28') || (error as Error | undefined)?.message?.startsWith('SASL')) {
    return new ConnectionFailure('authentication', 'The server refuses the user name or the password.');
  }
  if (code === '42501') {
    return new ConnectionFailure('authentication', 'The user may not connect to the database.');
  }
  return new ConnectionFailure('unreachable', `The server does not let the user in (${code}).`);
};

/** Failures that a person can fix, by SQLSTATE. The server's own text may quote values of rows, or SQL. */
const meanings: Record<string, string> = {
  '42P01': 'A table does not exist',
  '42703': 'A column does not exist',
  '42883': 'A function or operator does not exist for these types',
  '42804': 'The types of a comparison or of branches do not fit together',
  '42501': 'The user of the data connection has no privilege for a table or function',
  '22P02': 'A value does not have the form of its type',
  '22003': 'A number is out of range',
  '22007': 'A value is no date or time',
  '22008': 'A date or time is out of range',
  '22012': 'A division by zero',
  '21000': 'A subquery returned more than one row',
  '25006': 'The query would change data',
  '53100': "The database's disk is full",
  '53200': 'The database is out of memory',
};

/** Returns a ConnectionFailure if the connection is lost. */
export const queryFailure = (error: unknown): QueryFailure | ConnectionFailure => {
  if (error instanceof QueryFailure || error instanceof ConnectionFailure) return error;
  const code = codeOf(error);
  // 57014 without a time limit of ours can only be someone who cancels it in the database.
  if (code === '57014' || code === '55P03') return timedOut();
  if (/^(08|57P0)/.test(code) || !isSqlState(code)) {
    return new ConnectionFailure('unreachable', `The connection to the database was lost (${code}).`);
  }
  return new QueryFailure('query_failed', `${meanings[code] ?? 'The database refuses the query'} (${code}).`);
};
