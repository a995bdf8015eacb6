import { type Executor, sql } from '../../database/index.ts';
import { isId } from '../../lib/ids.ts';
import { noAgent, things } from '../things.ts';

/** Target of an entry of the audit log, with its present name. */
export interface TargetRow {
  type: string;
  id: string;
  /** Null if it has none. */
  name: string | null;
  /** The agent of a schedule or conversation, whose addresses have it. */
  agent_id: string | null;
}

/** Returns those of `targets` that still exist. */
export const listTargets = async (
  executor: Executor,
  targets: readonly { type: string; id: string }[],
): Promise<TargetRow[]> => {
  const ids = new Map<string, Set<string>>();
  for (const { type, id } of targets) {
    if (things[type] && isId(id)) ids.set(type, (ids.get(type) ?? new Set()).add(id));
  }
  const parts = [...ids].map(([type, wanted]) => {
    const { from, name, agentId } = things[type]!;
    return sql`select ${sql.lit(type)} as type, t.id, ${name} as name, ${agentId ?? noAgent} as agent_id
      from ${from} where t.id = any(${[...wanted]}::uuid[])`;
  });
  if (parts.length === 0) return [];
  return (await sql<TargetRow>`${sql.join(parts, sql` union all `)}`.execute(executor)).rows;
};
