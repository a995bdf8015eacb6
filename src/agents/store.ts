import type { Callback } from '../callbacks/index.ts';
import { type Executor, json, type Page, prepared, selectPage, sql, type Tx } from '../database/index.ts';
import type { Role } from '../lib/principal.ts';
import {
  type ChangesOf,
  column,
  generated,
  jsonColumn,
  type RecordOf,
  type RowOf,
  resource,
  stamps,
  type TableOf,
  type ValuesOf,
} from '../resource/index.ts';
import { fields } from './fields.ts';

export type AgentMode = 'worker' | 'conversational';

/**
 * The frozen part of an agent in a version, as the columns of a row of agents: null in them means the same as in the
 * row.
 */
export type Content = Record<string, unknown>;

/** A share of what is claimed that runs another version than the published one. */
export interface Canary {
  id: string;
  version: number;
  percent: number;
  until: string | null;
  rollback_when: { error_rate: number; min_finished: number } | null;
  started_at: string;
}

/** The last canary that the platform ended. */
export interface EndedCanary {
  version: number;
  reason: 'until' | 'error_rate';
  at: string;
}

export const agents = resource('agents', fields, {
  id: column<string>(),
  callbacks: jsonColumn<Callback[] | null>(),
  version: generated<number>(),
  latest_version: generated<number>(),
  publication_id: generated<string>(),
  draft: jsonColumn<Content | null>(),
  canary: jsonColumn<Canary | null>(),
  ended_canary: jsonColumn<EndedCanary | null>(),
  ...stamps,
});
const { columns } = agents;

declare module '../database/database.ts' {
  interface Schema {
    agents: TableOf<typeof agents>;
  }
}

/** The fields that a client may set. */
export type AgentFields = ValuesOf<typeof agents>;

/** The fields that a client changes. A field that is left out stays. */
export type AgentChanges = ChangesOf<typeof agents>;

type AgentRecord = RecordOf<typeof agents>;

export interface Agent extends Omit<AgentRecord, 'callbacks' | 'approval_role'> {
  approval_role: Role;
  callbacks: Callback[];
  /** The published content. */
  content: Content;
}

export const defaultApprovalRole: Record<AgentMode, Role> = { worker: 'builder', conversational: 'member' };

/** Fields of an agent that no version has, besides `max_concurrency` of its settings. */
export const unversioned = ['name', 'description', 'mode', 'callbacks', 'release', 'gate'] as const;

/** Columns that are no content. `agent_content` in the migrations has the same. */
const ownColumns = new Set<string>([
  ...unversioned,
  'id',
  'max_concurrency',
  'version',
  'latest_version',
  'publication_id',
  'draft',
  'canary',
  'ended_canary',
  'revision',
  'created_at',
  'updated_at',
]);

export const contentColumns: readonly string[] = columns.filter((name) => !ownColumns.has(name));

/** Returns the content that columns of a row have. */
export const contentOf = (row: object): Content =>
  Object.fromEntries(Object.entries(row).filter(([name]) => contentColumns.includes(name)));

export const toAgent = (row: RowOf<typeof agents>): Agent => {
  const agent = agents.read(row);
  return {
    ...agent,
    content: contentOf(row),
    approval_role: agent.approval_role ?? defaultApprovalRole[agent.mode],
    callbacks: agent.callbacks ?? [],
  };
};

/** Newest first. */
export const listAgents = async (executor: Executor, page: Page): Promise<Agent[]> =>
  (await selectPage(executor.selectFrom('agents').select(columns), page)).map(toAgent);

const agentById = prepared((executor, values: { id: string }) =>
  executor.selectFrom('agents').select(columns).where('id', '=', values.id).compile(),
);

export const findAgent = async (executor: Executor, id: string): Promise<Agent | undefined> => {
  const [row] = await agentById(executor, { id });
  return row && toAgent(row);
};

/** The names of agents by their ids, of those that there are. */
export const findAgentNames = async (
  executor: Executor,
  ids: readonly string[],
): Promise<Map<string, string>> => {
  const { rows } = await sql<{ id: string; name: string }>`select id, name from agents
    where id = any(${ids}::uuid[])`.execute(executor);
  return new Map(rows.map(({ id, name }) => [id, name]));
};

/**
 * A lock, by what it blocks until the transaction ends. `share`: deleting the agent. `update`: also changing it, and
 * `update` locks. `delete`: also `share` locks.
 */
export type AgentLock = 'share' | 'update' | 'delete';

/** The agent, locked until the transaction ends. */
export const findLockedAgent = async (tx: Tx, id: string, lock: AgentLock): Promise<Agent | undefined> => {
  const query = tx.selectFrom('agents').select(columns).where('id', '=', id);
  const locked = {
    share: () => query.forKeyShare(),
    update: () => query.forNoKeyUpdate(),
    delete: () => query.forUpdate(),
  }[lock]();
  const row = await locked.executeTakeFirst();
  return row && toAgent(row);
};

/**
 * Locks the agent as `update` does. Returns its mode and the database's time once the lock is held: `platform_now()` is
 * when the statement began, before it waited.
 */
export const lockMode = prepared((executor, values: { id: string }) =>
  sql<{ mode: AgentMode; now: Date }>`with locked as materialized (
      select mode from agents where id = ${values.id} for no key update)
    select mode, (platform_now() + (clock_timestamp() - statement_timestamp()))::timestamptz(3) as now from locked`.compile(
    executor,
  ),
);

export const insertAgent = async (
  tx: Tx,
  id: string,
  callbacks: readonly Callback[],
  fields: AgentFields,
): Promise<Agent> => {
  const row = await tx
    .insertInto('agents')
    .values({ id, callbacks: json(callbacks), ...agents.write(fields) })
    .returning(columns)
    .executeTakeFirstOrThrow();
  return toAgent(row);
};

/** Writes what the changes have into the locked agent, and other columns, and raises its revision. */
export const updateAgentRow = async (
  tx: Tx,
  id: string,
  changes: AgentChanges,
  also: Parameters<typeof agents.update>[3],
): Promise<Agent> => toAgent(await agents.update(tx, id, changes, also));

/** The ids of at most `limit` agents that have `id` in the field, published, in a draft or in a canary. */
export const listAgentsNaming = async (
  tx: Tx,
  field: 'tool_server_ids' | 'semantic_data_model_ids',
  id: string,
  limit: number,
): Promise<string[]> => {
  const { rows } = await sql<{ id: string }>`select a.id from agents a
    where a.${sql.ref(field)} @> array[${id}::uuid] or exists (
      select from agent_other_contents o
      where o.agent_id = a.id and o.content -> ${field} @> ${json([id])}::jsonb)
    order by a.id limit ${limit}`.execute(tx);
  return rows.map((row) => row.id);
};

/** The ids of at most `limit` agents whose gate names the dataset. */
export const listAgentsGatedBy = async (tx: Tx, datasetId: string, limit: number): Promise<string[]> => {
  const { rows } = await sql<{ id: string }>`select id from agents
    where gate is not null and lower(gate ->> 'dataset_id') = ${datasetId} order by id limit ${limit}`.execute(
    tx,
  );
  return rows.map((row) => row.id);
};

/** The agents that use a tool server. */
export const listAgentsUsing = async (executor: Executor, toolServerId: string): Promise<Agent[]> => {
  const rows = await executor
    .selectFrom('agents')
    .select(columns)
    .where('tool_server_ids', '@>', sql<string[]>`array[${toolServerId}::uuid]`)
    .orderBy('id')
    .execute();
  return rows.map(toAgent);
};

export const deleteAgentRow = async (tx: Tx, id: string): Promise<void> => {
  await tx.deleteFrom('agents').where('id', '=', id).execute();
};
