/** `mysql` is MySQL 8 and MariaDB 10.11 or newer; `duckdb` holds the data frames. */
export const engines = ['postgres', 'mysql', 'sqlite', 'duckdb'] as const;
export type Engine = (typeof engines)[number];

/** As messages call it. */
export const engineNames: Record<Engine, string> = {
  postgres: 'PostgreSQL',
  mysql: 'MySQL',
  sqlite: 'SQLite',
  duckdb: 'data frames',
};
