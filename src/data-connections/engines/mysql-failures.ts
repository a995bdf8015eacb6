import { codeOf } from '../../lib/foreign-socket.ts';
import { ConnectionFailure, QueryFailure } from './failures.ts';
import { tlsFailure } from './socket.ts';
import { timedOut } from './watch.ts';

/** The number of a server's error; undefined for one of the driver or of the connection. */
const numberOf = (error: unknown): number | undefined => {
  const { errno, sqlState } = (error ?? {}) as { errno?: unknown; sqlState?: unknown };
  return typeof errno === 'number' && typeof sqlState === 'string' ? errno : undefined;
};

/** Access denied, unknown database, host not permitted, a way of signing in that the driver does not have. */
const refusals = [1044, 1045, 1049, 1130, 1251, 1524, 1698, 1862, 3118, 4151];

export const signInFailure = (error: unknown): ConnectionFailure => {
  if (error instanceof ConnectionFailure) return error;
  const code = codeOf(error);
  if (code === 'HANDSHAKE_NO_SSL_SUPPORT') {
    return new ConnectionFailure('tls', 'The server does not offer TLS.', 'tls');
  }
  if (code === 'HANDSHAKE_SSL_ERROR') return tlsFailure((error as { cause?: unknown }).cause ?? error);
  const number = numberOf(error);
  if (number === 1049) return new ConnectionFailure('authentication', 'The database does not exist.');
  if ((number !== undefined && refusals.includes(number)) || code.startsWith('AUTH_SWITCH_')) {
    return new ConnectionFailure('authentication', 'The server refuses the user name or the password.');
  }
  return new ConnectionFailure('unreachable', `The server does not let the user in (${code}).`);
};

/** Statement timeouts of MySQL and MariaDB, a lock that was not free in time, a killed statement. */
const timeouts = [3024, 1969, 1205, 1317];

const meanings: Record<number, string> = {
  1054: 'A column does not exist',
  1146: 'A table does not exist',
  1305: 'A function does not exist',
  1142: 'The user of the data connection has no privilege for a table',
  1143: 'The user of the data connection has no privilege for a column',
  1370: 'The user of the data connection has no privilege for a function',
  1055: 'A column is neither grouped nor aggregated',
  1242: 'A subquery returned more than one row',
  1264: 'A number is out of range',
  1690: 'A number is out of range',
  1792: 'The query would change data',
  1365: 'A division by zero',
};

/** Returns a ConnectionFailure if the connection is lost. */
export const queryFailure = (error: unknown): QueryFailure | ConnectionFailure => {
  if (error instanceof QueryFailure || error instanceof ConnectionFailure) return error;
  const number = numberOf(error);
  if (number === undefined) {
    return new ConnectionFailure(
      'unreachable',
      `The connection to the database was lost (${codeOf(error)}).`,
    );
  }
  if (timeouts.includes(number)) return timedOut();
  return new QueryFailure(
    'query_failed',
    `${meanings[number] ?? 'The database refuses the query'} (${number}).`,
  );
};
