import { type Executor, sql } from '../../database/index.ts';

export interface DatabaseFacts {
  now: Date;
  version: string;
  size_bytes: number;
}

export const findDatabaseFacts = async (executor: Executor): Promise<DatabaseFacts> => {
  const { rows } = await sql<DatabaseFacts>`select platform_now() as now,
    current_setting('server_version') as version, pg_database_size(current_database()) as size_bytes`.execute(
    executor,
  );
  return rows[0]!;
};
