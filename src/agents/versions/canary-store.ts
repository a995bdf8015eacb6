import { type Executor, json, sql, type Tx } from '../../database/index.ts';
import type { Agent, Canary, EndedCanary } from '../store.ts';

/** The number of runs of one arm that ended since the canary began, and the number of them that failed. */
interface Arm {
  finished: number;
  failed: number;
}

export interface Arms {
  canary: Arm;
  published: Arm;
}

/** Counts what ended since the canary began by the version that it was pinned to. */
export const countArms = async (
  executor: Executor,
  { id, mode, version }: Pick<Agent, 'id' | 'mode' | 'version'>,
  canary: Canary,
): Promise<Arms> => {
  const [table, completed, error] =
    mode === 'worker'
      ? [sql`work_items`, sql`'COMPLETED'`, sql`'ERROR'`]
      : [sql`conversation_runs`, sql`'completed'`, sql`'error'`];
  const { rows } = await sql<Arm & { agent_version: number }>`
    select agent_version, count(*)::integer as finished, (count(*) filter (where status = ${error}))::integer as failed
    from ${table} where agent_id = ${id} and status in (${completed}, ${error}) and finished_at is not null
      and finished_at >= ${canary.started_at}::timestamptz and agent_version in (${version}, ${canary.version})
    group by agent_version`.execute(executor);
  const armOf = (number: number): Arm => {
    const { finished = 0, failed = 0 } = rows.find((row) => row.agent_version === number) ?? {};
    return { finished, failed };
  };
  return { canary: armOf(canary.version), published: armOf(version) };
};

/** Writes the canary of the locked agent; null: none. */
export const updateCanary = async (
  tx: Tx,
  agentId: string,
  canary: Canary | null,
  latestVersion: number,
): Promise<void> => {
  await sql`update agents set canary = ${canary && json(canary)}::jsonb, revision = revision + 1,
    latest_version = greatest(latest_version, ${latestVersion}::integer), updated_at = platform_now()
    where id = ${agentId}`.execute(tx);
};

/** Notes that the platform ended a canary of the locked agent. */
export const updateEndedCanary = async (
  tx: Tx,
  agentId: string,
  version: number,
  reason: EndedCanary['reason'],
): Promise<void> => {
  await sql`update agents set ended_canary = jsonb_build_object('version', ${version}::integer, 'reason', ${reason}::text,
    'at', platform_now()) where id = ${agentId}`.execute(tx);
};

/** The ids of the agents that have a canary. */
export const listCanaries = async (executor: Executor): Promise<string[]> => {
  const { rows } = await sql<{
    id: string;
  }>`select id from agents where canary is not null order by id`.execute(executor);
  return rows.map(({ id }) => id);
};
