import { CompiledQuery } from 'kysely';
import type pg from 'pg';
import type { Executor } from '../../src/database/index.ts';

export interface AgentFields {
  name?: string;
  mode?: string;
  instructions?: string;
  llm_id?: string | null;
  max_concurrency?: number;
  max_attempts?: number;
  timeout_seconds?: number;
  max_steps?: number;
}

/** Inserts agents into the table, without the API: Worker agents unless `fields` says otherwise. */
export const insertAgents = async (
  to: Executor | pg.Client,
  ids: readonly string[],
  fields: AgentFields = {},
): Promise<void> => {
  const { name = 'A', mode = 'worker', instructions = '', llm_id = null } = fields;
  const { max_concurrency = 4, max_attempts = 3, timeout_seconds = 600, max_steps = 20 } = fields;
  const text = `insert into agents (id, name, mode, instructions, llm_id, max_concurrency, max_attempts,
      timeout_seconds, max_steps)
    select id, $2, $3, $4, $5::uuid, $6::int, $7::int, $8::int, $9::int from unnest($1::uuid[]) as id`;
  const limits = [max_concurrency, max_attempts, timeout_seconds, max_steps];
  const values = [ids, name, mode, instructions, llm_id, ...limits];
  if ('executeQuery' in to) await to.executeQuery(CompiledQuery.raw(text, values));
  else await to.query(text, values);
};
