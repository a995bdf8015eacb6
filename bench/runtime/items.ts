import { type Database, sql } from '../../src/database/index.ts';
import { newId } from '../../src/lib/ids.ts';
import { insertAgents } from '../../tests/harness/agents.ts';

/** Inserts Worker agents without a limit that matters. Returns their ids. */
export const seedAgents = async (db: Database, count: number, maxConcurrency = 1_000): Promise<string[]> => {
  const ids = Array.from({ length: count }, newId);
  await db.tx((tx) => insertAgents(tx, ids, { name: 'Bench', max_concurrency: maxConcurrency }));
  return ids;
};

/**
 * Inserts `count` PENDING Work Items, in turn of these agents, with the script of the mock model in their payload, and
 * notifies the workers. Their time of creation is `ageSeconds` ago.
 */
export const seedItems = async (
  db: Database,
  agents: readonly string[],
  count: number,
  script: unknown = {},
  ageSeconds = 0,
): Promise<void> => {
  await db.tx(async (tx) => {
    await sql`set local statement_timeout = 0`.execute(tx);
    await sql`insert into work_items (id, agent_id, message, payload, status, created_by, conversation_id, created_at)
      select i.id, (${agents}::uuid[])[1 + i.n % ${agents.length}::int], 'Write the report.',
        jsonb_build_object('mock', ${JSON.stringify(script)}::jsonb), 'PENDING', 'bench', i.id,
        platform_now() - make_interval(secs => ${ageSeconds})
      from (select gen_random_uuid() as id, n from generate_series(1, ${count}::int) as n) i`.execute(tx);
    await sql`select pg_notify('work_items', '')`.execute(tx);
  });
};

/** How many Work Items are COMPLETED. Throws if one ended otherwise. */
export const countCompleted = async (db: Database): Promise<number> => {
  const { rows } = await db.run((executor) =>
    sql<{ completed: number; failed: number }>`select
        count(*) filter (where status = 'COMPLETED')::int as completed,
        count(*) filter (where status in ('ERROR', 'NEEDS_REVIEW', 'INDETERMINATE', 'CANCELLED'))::int as failed
      from work_items`.execute(executor),
  );
  const { completed, failed } = rows[0]!;
  if (failed > 0) throw new Error(`${failed} Work Items did not become COMPLETED`);
  return completed;
};

export const removeItems = async (db: Database): Promise<void> => {
  await db.tx((tx) => sql`truncate work_items cascade`.execute(tx));
};

/** Of `values`, the one below which the part `p` of them is. */
export const percentile = (values: readonly number[], p: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * p))]!;
