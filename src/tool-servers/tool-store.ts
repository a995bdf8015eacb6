import { type Executor, type Json, json, sql, type Table, type Tx } from '../database/index.ts';
import type { ToolDefinition } from './definitions.ts';
import type { Policy } from './store.ts';

export interface ToolRow {
  tool_server_id: string;
  /** Name of the tool on the server. */
  name: string;
  /** Name of the tool for models. */
  tool_name: string;
  /** Definition that the server last listed. */
  definition: ToolDefinition;
  definition_hash: string;
  /** Definition that was accepted; null: none was. */
  accepted: ToolDefinition | null;
  accepted_hash: string | null;
  /** The address of the server changed after the tool was accepted. */
  distrusted: boolean;
  /** True if the server's last list has it. */
  present: boolean;
  policy: Policy | null;
  idempotent: boolean | null;
  first_seen_at: Date;
  changed_at: Date;
}

declare module '../database/database.ts' {
  interface Schema {
    tool_server_tools: Table<
      Omit<ToolRow, 'definition' | 'accepted'> & {
        definition: Json<ToolDefinition>;
        accepted: Json<ToolDefinition | null>;
      },
      'distrusted' | 'present' | 'first_seen_at' | 'changed_at'
    >;
  }
}

const columns = [
  'tool_server_id',
  'name',
  'tool_name',
  'definition',
  'definition_hash',
  'accepted',
  'accepted_hash',
  'distrusted',
  'present',
  'policy',
  'idempotent',
  'first_seen_at',
  'changed_at',
] as const;

/** Returns the tools of these servers, by server, then by name. */
export const listTools = (executor: Executor, serverIds: readonly string[]): Promise<ToolRow[]> =>
  serverIds.length === 0
    ? Promise.resolve([])
    : executor
        .selectFrom('tool_server_tools')
        .select(columns)
        .where('tool_server_id', 'in', serverIds)
        .orderBy('tool_server_id')
        .orderBy(sql`name collate "C"`)
        .execute();

const byName = (executor: Executor, serverId: string, name: string) =>
  executor
    .selectFrom('tool_server_tools')
    .select(columns)
    .where('tool_server_id', '=', serverId)
    .where('name', '=', name);

export const findTool = (executor: Executor, serverId: string, name: string): Promise<ToolRow | undefined> =>
  byName(executor, serverId, name).executeTakeFirst();

/**
 * Returns whether agents may call the tool as it was offered to them: with this definition, accepted, and not denied.
 */
export const isCallable = async (
  executor: Executor,
  serverId: string,
  name: string,
  hash: string,
): Promise<boolean> =>
  (await executor
    .selectFrom('tool_server_tools as t')
    .innerJoin('tool_servers as s', 's.id', 't.tool_server_id')
    .select('t.name')
    .where('t.tool_server_id', '=', serverId)
    .where('t.name', '=', name)
    .where('t.definition_hash', '=', hash)
    .where('t.accepted_hash', '=', hash)
    .where('t.present', '=', true)
    .where('t.distrusted', '=', false)
    .where('s.enabled', '=', true)
    .where((eb) => eb.or([eb('t.policy', 'is', null), eb('t.policy', '<>', 'deny')]))
    .executeTakeFirst()) !== undefined;

export const findLockedTool = (tx: Tx, serverId: string, name: string): Promise<ToolRow | undefined> =>
  byName(tx, serverId, name).forNoKeyUpdate().executeTakeFirst();

/** Number of tools that the last list of a server had, and how many of them wait to be accepted. */
export interface ToolCounts {
  tool_count: number;
  /** Accepted before, and changed since. */
  changed_count: number;
  /** Never accepted. */
  new_count: number;
}

export const countTools = async (
  executor: Executor,
  serverIds: readonly string[],
): Promise<Map<string, ToolCounts>> => {
  if (serverIds.length === 0) return new Map();
  const { rows } = await sql<
    ToolCounts & { id: string }
  >`select tool_server_id as id, count(*)::int as tool_count,
      (count(*) filter (where accepted_hash is not null and (distrusted or accepted_hash <> definition_hash)))::int
        as changed_count,
      (count(*) filter (where accepted_hash is null))::int as new_count
    from tool_server_tools where tool_server_id = any(${serverIds}::uuid[]) and present
    group by tool_server_id`.execute(executor);
  return new Map(rows.map(({ id, ...counts }) => [id, counts]));
};

/** Returns the rules for tools of these servers that differ from those of the server. */
export const listToolUses = async (
  executor: Executor,
  serverIds: readonly string[],
): Promise<Pick<ToolRow, 'tool_server_id' | 'name' | 'policy' | 'idempotent'>[]> => {
  if (serverIds.length === 0) return [];
  return executor
    .selectFrom('tool_server_tools')
    .select(['tool_server_id', 'name', 'policy', 'idempotent'])
    .where('tool_server_id', 'in', serverIds)
    .where((eb) => eb.or([eb('policy', 'is not', null), eb('idempotent', 'is not', null)]))
    .execute();
};

/** The names of the server's tools with what a discovery compares. */
export const listToolHashes = (
  tx: Tx,
  serverId: string,
): Promise<Pick<ToolRow, 'name' | 'definition_hash' | 'present'>[]> =>
  tx
    .selectFrom('tool_server_tools')
    .select(['name', 'definition_hash', 'present'])
    .where('tool_server_id', '=', serverId)
    .execute();

/** A tool that a server listed for the first time. */
export interface NewTool {
  name: string;
  tool_name: string;
  definition: ToolDefinition;
  definition_hash: string;
}

/** Inserts the tools whose `tool_name` is free. Returns the names of those. */
export const insertTools = async (
  tx: Tx,
  serverId: string,
  tools: readonly NewTool[],
  accepted: boolean,
): Promise<Set<string>> => {
  if (tools.length === 0) return new Set();
  const { rows } = await sql<{ name: string }>`insert into tool_server_tools
      (tool_server_id, name, tool_name, definition, definition_hash, accepted, accepted_hash)
    select ${serverId}::uuid, t.name, t.tool_name, t.definition, t.hash,
      case when ${accepted}::boolean then t.definition end, case when ${accepted}::boolean then t.hash end
    from unnest(${tools.map((t) => t.name)}::text[], ${tools.map((t) => t.tool_name)}::text[],
      ${tools.map((t) => json(t.definition))}::jsonb[], ${tools.map((t) => t.definition_hash)}::text[])
      as t(name, tool_name, definition, hash)
    on conflict (tool_name) do nothing returning name`.execute(tx);
  return new Set(rows.map(({ name }) => name));
};

/** Stores what the server lists now for tools that it has listed before. */
export const updateDefinitions = async (
  tx: Tx,
  serverId: string,
  tools: readonly Omit<NewTool, 'tool_name'>[],
): Promise<void> => {
  if (tools.length === 0) return;
  await sql`update tool_server_tools set definition = t.definition, definition_hash = t.hash, present = true,
      changed_at = platform_now()
    from unnest(${tools.map((t) => t.name)}::text[], ${tools.map((t) => json(t.definition))}::jsonb[],
      ${tools.map((t) => t.definition_hash)}::text[]) as t(name, definition, hash)
    where tool_server_id = ${serverId} and tool_server_tools.name = t.name`.execute(tx);
};

/** The server no longer lists these tools. Only the last `kept` of all that are missing stay. */
export const updateMissing = async (
  tx: Tx,
  serverId: string,
  names: readonly string[],
  kept: number,
): Promise<void> => {
  if (names.length === 0) return;
  await sql`update tool_server_tools set present = false, changed_at = platform_now()
    where tool_server_id = ${serverId} and name = any(${names}::text[])`.execute(tx);
  await sql`delete from tool_server_tools where tool_server_id = ${serverId} and name in
    (select name from tool_server_tools where tool_server_id = ${serverId} and not present
      order by changed_at desc, name offset ${kept}::int)`.execute(tx);
};

/** Withdraws the trust in all tools of the server until they are accepted again. */
export const distrustTools = async (tx: Tx, serverId: string): Promise<void> => {
  await sql`update tool_server_tools set distrusted = true, changed_at = platform_now(),
      accepted = coalesce(accepted, definition), accepted_hash = coalesce(accepted_hash, definition_hash)
    where tool_server_id = ${serverId}`.execute(tx);
};

/** Writes how the locked tool may be used. */
export const updateToolRow = (
  tx: Tx,
  { tool_server_id, name }: Pick<ToolRow, 'tool_server_id' | 'name'>,
  fields: Pick<ToolRow, 'policy' | 'idempotent'>,
): Promise<ToolRow> =>
  tx
    .updateTable('tool_server_tools')
    .set(fields)
    .where('tool_server_id', '=', tool_server_id)
    .where('name', '=', name)
    .returning(columns)
    .executeTakeFirstOrThrow();

/** Accepts the present definition of the locked tool. */
export const acceptToolRow = (tx: Tx, { tool_server_id, name }: ToolRow): Promise<ToolRow> =>
  tx
    .updateTable('tool_server_tools')
    .set({
      accepted: sql<string>`definition`,
      accepted_hash: sql<string>`definition_hash`,
      distrusted: false,
      changed_at: sql<Date>`platform_now()`,
    })
    .where('tool_server_id', '=', tool_server_id)
    .where('name', '=', name)
    .returning(columns)
    .executeTakeFirstOrThrow();
