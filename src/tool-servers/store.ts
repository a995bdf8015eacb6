import {
  type Executor,
  type Json,
  json,
  type Page,
  selectPage,
  sql,
  type Table,
  type Tx,
} from '../database/index.ts';

export const policies = ['allow', 'deny', 'require_approval'] as const;
export type Policy = (typeof policies)[number];

/** How agents may use a tool: null, as its server says. */
export interface ToolUse {
  policy: Policy | null;
  idempotent: boolean | null;
}

export interface ToolServerRow {
  id: string;
  name: string;
  prefix: string;
  transport: 'http' | 'stdio';
  /** ToolServerSettings, sealed. */
  settings: string;
  enabled: boolean;
  default_policy: Policy;
  call_timeout_seconds: number;
  max_concurrency: number;
  state: 'unknown' | 'ok' | 'failing';
  protocol_version: string | null;
  /** Whether a discovery has succeeded. */
  discovered: boolean;
  discovery_began_at: Date | null;
  last_success_at: Date | null;
  last_error: string | null;
  /** What the last discovery that succeeded left out, as sentences. */
  warnings: string[];
  /** How tools may be used that the server has not listed yet, by their names. */
  expected_tools: Record<string, ToolUse>;
  revision: number;
  created_at: Date;
  updated_at: Date;
}

type Defaults =
  | 'state'
  | 'protocol_version'
  | 'discovered'
  | 'discovery_began_at'
  | 'last_success_at'
  | 'last_error'
  | 'revision'
  | 'created_at'
  | 'updated_at';

declare module '../database/database.ts' {
  interface Schema {
    tool_servers: Table<Omit<ToolServerRow, 'expected_tools' | 'warnings'>, Defaults> & {
      expected_tools: Json<Record<string, ToolUse>>;
      warnings: Json<string[]>;
    };
  }
}

const columns = [
  'id',
  'name',
  'prefix',
  'transport',
  'settings',
  'enabled',
  'default_policy',
  'call_timeout_seconds',
  'max_concurrency',
  'state',
  'protocol_version',
  'discovered',
  'discovery_began_at',
  'last_success_at',
  'last_error',
  'warnings',
  'expected_tools',
  'revision',
  'created_at',
  'updated_at',
] as const;

/** Newest first; with `q` those whose name or prefix contains it. */
export const listToolServers = (executor: Executor, page: Page, q?: string): Promise<ToolServerRow[]> => {
  const all = executor.selectFrom('tool_servers').select(columns);
  const found = sql<boolean>`strpos(lower(name || chr(10) || prefix), lower(${q})) > 0`;
  return selectPage(q === undefined ? all : all.where(found), page);
};

const byId = (executor: Executor, id: string) =>
  executor.selectFrom('tool_servers').select(columns).where('id', '=', id);

export const findToolServer = (executor: Executor, id: string): Promise<ToolServerRow | undefined> =>
  byId(executor, id).executeTakeFirst();

/** The row, locked: no one else changes or deletes it until the transaction ends. Agents can still begin to name it. */
export const findLockedToolServer = (tx: Tx, id: string): Promise<ToolServerRow | undefined> =>
  byId(tx, id).forNoKeyUpdate().executeTakeFirst();

/** Like `findLockedToolServer`, and no agent begins to name it. */
export const lockToolServerForDelete = (tx: Tx, id: string): Promise<ToolServerRow | undefined> =>
  byId(tx, id).forUpdate().executeTakeFirst();

/** Locks the servers so that they are not deleted before the transaction ends. Returns the ids of those that exist. */
export const lockToolServersForShare = async (tx: Tx, ids: readonly string[]): Promise<Set<string>> => {
  if (ids.length === 0) return new Set();
  const rows = await tx
    .selectFrom('tool_servers')
    .select('id')
    .where('id', 'in', ids)
    .orderBy('id')
    .forKeyShare()
    .execute();
  return new Set(rows.map(({ id }) => id));
};

/** The prefixes that begin with `start`. */
export const listPrefixes = async (tx: Tx, start: string): Promise<Set<string>> => {
  const rows = await tx
    .selectFrom('tool_servers')
    .select('prefix')
    .where((eb) => eb.fn('starts_with', ['prefix', eb.val(start)]), '=', sql<never>`true`)
    .execute();
  return new Set(rows.map(({ prefix }) => prefix));
};

type ToolServerFields = Pick<
  ToolServerRow,
  'name' | 'settings' | 'enabled' | 'default_policy' | 'call_timeout_seconds' | 'max_concurrency'
>;

/** Returns undefined if another server has the prefix. */
export const insertToolServer = (
  tx: Tx,
  row: ToolServerFields & Pick<ToolServerRow, 'id' | 'prefix' | 'transport'>,
): Promise<ToolServerRow | undefined> =>
  tx
    .insertInto('tool_servers')
    .values({ ...row, expected_tools: json({}), warnings: json([]) })
    .onConflict((conflict) => conflict.column('prefix').doNothing())
    .returning(columns)
    .executeTakeFirst();

/** Writes all fields of the locked row and raises its revision. */
export const updateToolServerRow = (tx: Tx, id: string, fields: ToolServerFields): Promise<ToolServerRow> =>
  tx
    .updateTable('tool_servers')
    .set({ ...fields, revision: sql<number>`revision + 1`, updated_at: sql<Date>`platform_now()` })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow();

/** What is known of the server at its old address no longer holds. */
export const resetToolServerState = (tx: Tx, id: string): Promise<ToolServerRow> =>
  tx
    .updateTable('tool_servers')
    .set({
      state: 'unknown',
      protocol_version: null,
      last_success_at: null,
      last_error: null,
      warnings: json([]),
    })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow();

/** Writes how tools may be used that the locked server has not listed yet. It is no change of the resource. */
export const updateExpectedTools = async (
  tx: Tx,
  id: string,
  expected: Record<string, ToolUse>,
): Promise<void> => {
  await tx
    .updateTable('tool_servers')
    .set({ expected_tools: json(expected) })
    .where('id', '=', id)
    .execute();
};

export const deleteToolServerRow = async (tx: Tx, id: string): Promise<void> => {
  await tx.deleteFrom('tool_servers').where('id', '=', id).execute();
};

/**
 * Takes the policies for tools of the server from the agents that do not use it, because nothing can refer to it when it
 * is deleted. Returns the ids of these agents.
 */
export const deletePoliciesOf = async (tx: Tx, id: string): Promise<string[]> => {
  const { rows } = await sql<{
    id: string;
  }>`update agents set revision = revision + 1, updated_at = platform_now(),
      tool_policies = (select coalesce(jsonb_agg(policy order by position), '[]')
        from jsonb_array_elements(tool_policies) with ordinality as p(policy, position)
        where lower(policy->>'tool_server_id') <> ${id}::text)
    where exists (select from jsonb_array_elements(tool_policies) as p(policy)
      where lower(policy->>'tool_server_id') = ${id}::text)
    returning id`.execute(tx);
  return rows.map((row) => row.id);
};

/** A server and whether its tools must be discovered again before an attempt uses them. */
export interface DueToolServer extends ToolServerRow {
  stale: boolean;
  /** The time of the database. */
  now: Date;
}

/** The servers that are enabled, with whether their last success is older than `maxAgeSeconds`. */
export const listEnabledToolServers = async (
  executor: Executor,
  ids: readonly string[],
  maxAgeSeconds: number,
): Promise<DueToolServer[]> => {
  if (ids.length === 0) return [];
  return executor
    .selectFrom('tool_servers')
    .select(columns)
    .select([
      sql<boolean>`coalesce(last_success_at < platform_now() - make_interval(secs => ${maxAgeSeconds}::int), true)`.as(
        'stale',
      ),
      sql<Date>`platform_now()`.as('now'),
    ])
    .where('id', 'in', ids)
    .where('enabled', '=', true)
    .orderBy('id')
    .execute();
};

/** Stores the result of a discovery in the locked row: success with the version, or why it failed. */
export const updateDiscovery = (
  tx: Tx,
  id: string,
  result: { beganAt: Date } & ({ protocolVersion: string | null; warnings: string[] } | { error: string }),
): Promise<ToolServerRow> =>
  tx
    .updateTable('tool_servers')
    .set({
      discovery_began_at: result.beganAt,
      ...('error' in result
        ? { state: 'failing' as const, last_error: result.error }
        : {
            state: 'ok' as const,
            last_error: null,
            discovered: true,
            warnings: json(result.warnings),
            protocol_version: result.protocolVersion,
            last_success_at: sql<Date>`platform_now()`,
          }),
    })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow();
