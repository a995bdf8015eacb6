import { type Executor, sql } from '../../database/index.ts';

/** Contents of a workspace, for the list of what is left to set up. */
export interface Setup {
  agent: boolean;
  first_run: boolean;
  schedule: boolean;
  tracing_backend: boolean;
  real_model: boolean;
  team_key: boolean;
}

export const findSetup = async (executor: Executor): Promise<Setup> => {
  const { rows } = await sql<Setup>`select exists (select from agents) as agent,
    exists (select from work_items where status not in ('PENDING', 'EXECUTING') and status = 'COMPLETED') as first_run,
    exists (select from schedules) as schedule,
    exists (select from observability_integrations where is_enabled) as tracing_backend,
    exists (select from llm_configurations where kind <> 'mock' and test_passed_at is not null) as real_model,
    exists (select from api_keys where created_by <> 'system') as team_key`.execute(executor);
  return rows[0]!;
};
