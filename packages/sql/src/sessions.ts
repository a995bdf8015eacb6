import type { Engine } from './engines.ts';

/** MySQL reads quotes, `||` and backslashes as the standard has them, and refuses what it would guess. */
const mysqlModes = [
  'ANSI_QUOTES',
  'PIPES_AS_CONCAT',
  'NO_BACKSLASH_ESCAPES',
  'ONLY_FULL_GROUP_BY',
  'STRICT_ALL_TABLES',
  'NO_UNSIGNED_SUBTRACTION',
].join(',');

/**
 * Settings that `print` relies on, as statements that begin a session (PostgreSQL: a transaction). Without them the SQL
 * is still ours, but it may mean something else. Timeouts and read-only modes are the caller's.
 */
export const sessionStatements: Record<Engine, readonly string[]> = {
  postgres: [
    'SET LOCAL search_path = pg_catalog',
    "SET LOCAL timezone = 'UTC'",
    'SET LOCAL standard_conforming_strings = on',
    "SET LOCAL DateStyle = 'ISO'",
  ],
  mysql: [
    `SET SESSION sql_mode = '${mysqlModes}'`,
    "SET SESSION time_zone = '+00:00'",
    'SET NAMES utf8mb4',
    // Otherwise GROUP_CONCAT is cut at 1,024 bytes, in silence.
    'SET SESSION group_concat_max_len = 1048576',
    // Otherwise a quotient or an average has 4 digits more than what is divided: 7 / 3 is 2.3333.
    'SET SESSION div_precision_increment = 16',
  ],
  sqlite: ['PRAGMA trusted_schema = OFF'],
  duckdb: ["SET TimeZone = 'UTC'"],
};
