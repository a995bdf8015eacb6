import { type Executor, json, sql, type Tx } from '../../database/index.ts';
import type { Gate } from '../gate.ts';
import type { GateFigures } from './gatekeeper.ts';
import type { Publication } from './store.ts';

/** SQL of checks: publications that wait for the verdict of a gate. */

/** A publication in the state `checking`. */
export interface Check {
  id: string;
  agent_id: string;
  /** The published version when the check began. */
  from_version: number;
  version: number;
  check_only: boolean;
  note: string | null;
  by: Publication['by'];
  /** The gate when the check began. */
  rules: Gate;
  figures: GateFigures;
}

const columns = sql`p.id, p.agent_id, p.from_version, p.version, p.check_only, p.note, p.published_by as by,
  p.gate_rules as rules, p.gate as figures`;

/** All checks that have not ended, the oldest first. */
export const listChecks = async (executor: Executor): Promise<Check[]> => {
  const { rows } = await sql<Check>`select ${columns} from agent_publications p where p.state = 'checking'
    order by p.id`.execute(executor);
  return rows;
};

/** The check of the locked agent that has not ended; undefined if none has. */
export const findCheck = async (tx: Tx, agentId: string): Promise<Check | undefined> => {
  const { rows } = await sql<Check>`select ${columns} from agent_publications p
    where p.agent_id = ${agentId} and p.state = 'checking'`.execute(tx);
  return rows[0];
};

/** Stores a check that begins. */
export const insertCheck = async (
  tx: Tx,
  check: Omit<Check, 'figures'> & { key: string },
  figures: GateFigures,
): Promise<void> => {
  await sql`insert into agent_publications (id, agent_id, kind, state, from_version, version, note, published_by, gate,
      gate_rules, check_only, verdict_key)
    values (${check.id}, ${check.agent_id}, 'publish', 'checking', ${check.from_version}, ${check.version}, ${check.note},
      ${check.by && json(check.by)}::jsonb, ${json(figures)}::jsonb, ${json(check.rules)}::jsonb, ${check.check_only},
      ${check.key})`.execute(tx);
};

/** Lets a check that would only pass publish too. `note` and `by` are those of the request to publish. */
export const updateCheckToPublish = async (
  tx: Tx,
  id: string,
  { note, by }: Pick<Check, 'note' | 'by'>,
): Promise<void> => {
  await sql`update agent_publications set check_only = false, note = ${note}, published_by = ${by && json(by)}::jsonb
    where id = ${id}`.execute(tx);
};

export const updateFigures = async (tx: Tx, id: string, figures: GateFigures): Promise<void> => {
  await sql`update agent_publications set gate = ${json(figures)}::jsonb where id = ${id}`.execute(tx);
};

/** Ends a check that does not publish. */
export const updateEnded = async (
  tx: Tx,
  id: string,
  state: Exclude<Publication['state'], 'checking' | 'published'>,
  reason: string | null,
): Promise<void> => {
  await sql`update agent_publications set state = ${state}, reason = ${reason}, finished_at = platform_now()
    where id = ${id}`.execute(tx);
};

/** The newest publication that a gate decided with this key; undefined if none has a verdict. */
export const findVerdict = async (
  tx: Tx,
  agentId: string,
  key: string,
): Promise<{ id: string; state: 'passed' | 'published' | 'blocked'; gate: GateFigures } | undefined> => {
  const { rows } = await sql<{ id: string; state: 'passed' | 'published' | 'blocked'; gate: GateFigures }>`
    select id, state, gate from agent_publications
    where agent_id = ${agentId} and verdict_key = ${key} and state in ('passed', 'published', 'blocked')
    order by id desc limit 1`.execute(tx);
  return rows[0];
};

/** Returns whether a gate of the agent has passed the version. */
export const hasPassed = async (tx: Tx, agentId: string, version: number): Promise<boolean> => {
  const { rows } =
    await sql`select from agent_publications where agent_id = ${agentId} and version = ${version}
    and state in ('passed', 'published') and gate is not null limit 1`.execute(tx);
  return rows.length > 0;
};

/** Those of the publications that exist, with 1 for each that has ended, and 0 for a check in progress. */
export const listEnded = async (executor: Executor, ids: readonly string[]): Promise<Map<string, number>> => {
  const { rows } = await sql<{ id: string; ended: number }>`select id, (state <> 'checking')::integer as ended
    from agent_publications where id = any(${[...ids]}::uuid[])`.execute(executor);
  return new Map(rows.map(({ id, ended }) => [id, ended]));
};
