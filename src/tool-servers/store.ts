import { z } from 'zod';
import {
  type Executor,
  json,
  type Page,
  type RawBuilder,
  selectPage,
  sql,
  type Tx,
} from '../database/index.ts';
import { optional, text } from '../http/index.ts';
import { allTakeInput } from '../replicas/index.ts';
import {
  column,
  elsewhere,
  generated,
  jsonColumn,
  type RowOf,
  required,
  resource,
  stamps,
  type TableOf,
  withDefault,
} from '../resource/index.ts';
import { prefixPattern } from './names.ts';

export const policies = ['allow', 'deny', 'require_approval'] as const;
export type Policy = (typeof policies)[number];

/** Rules for the use of a tool by agents. Null: as its server says. */
export interface ToolUse {
  policy: Policy | null;
  idempotent: boolean | null;
}

const policy = z.enum(policies);
const prefix = z
  .string()
  .regex(prefixPattern, 'must be 1 to 20 characters of a-z, 0-9 and _, the first one a letter')
  .describe('The names of its tools, as models see them, begin with it. Unique. It cannot be changed.');

/** Tool servers. How each is reached is in `settings`. */
export const toolServers = resource(
  'tool_servers',
  {
    name: required(text(200, 1)),
    prefix: elsewhere({
      create: optional(prefix).describe('The default is made from the name.'),
      patch: prefix.optional(),
      shown: z.string(),
    }).fixed(),
    enabled: withDefault(z.boolean().describe('Whether agents get its tools.'), true).shownAs(z.boolean()),
    default_policy: withDefault(policy, 'require_approval').createdAs(
      'For tools and agents without a policy of their own.',
    ),
    call_timeout_seconds: withDefault(
      z.int().min(1).max(600).describe('How long one call may take.'),
      60,
    ).shownAs(z.int()),
    max_concurrency: withDefault(
      z.int().min(1).max(100).describe('How many calls one replica makes at the same time.'),
      8,
    ).shownAs(z.int()),
    allow_input: withDefault(
      z.boolean().describe('Whether its tools may ask people for input while they are called.'),
      true,
    ).shownAs(z.boolean()),
  },
  {
    id: column<string>(),
    prefix: column<string>(),
    transport: column<'http' | 'stdio'>(),
    /** ToolServerSettings, sealed. */
    settings: column<string>(),
    state: generated<'unknown' | 'ok' | 'failing'>(),
    protocol_version: generated<string | null>(),
    /** True if a discovery has succeeded. */
    discovered: generated<boolean>(),
    discovery_began_at: generated<Date | null>(),
    last_success_at: generated<Date | null>(),
    last_error: generated<string | null>(),
    /** Parts that the last discovery that succeeded left out, as sentences. */
    warnings: jsonColumn<string[]>(),
    /** Rules for tools that the server has not listed yet, by their names. */
    expected_tools: jsonColumn<Record<string, ToolUse>>(),
    ...stamps,
  },
);
const { columns } = toolServers;

export type ToolServerRow = RowOf<typeof toolServers>;

declare module '../database/database.ts' {
  interface Schema {
    tool_servers: TableOf<typeof toolServers>;
  }
}

/** Returns tool servers, newest first; with `q` those whose name or prefix contains it. */
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

/** Locks and returns a tool server as `findLockedToolServer` does, and so that no agent begins to name it. */
export const lockToolServerForDelete = (tx: Tx, id: string): Promise<ToolServerRow | undefined> =>
  byId(tx, id).forUpdate().executeTakeFirst();

/** Returns the defaults of these servers for all their tools, whether they list them or not. */
export const listServerDefaults = async (
  executor: Executor,
  ids: readonly string[],
): Promise<Pick<ToolServerRow, 'id' | 'default_policy' | 'expected_tools'>[]> =>
  ids.length === 0
    ? []
    : executor
        .selectFrom('tool_servers')
        .select(['id', 'default_policy', 'expected_tools'])
        .where('id', 'in', ids)
        .execute();

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

/** Returns undefined if another server has the prefix. */
export const insertToolServer = (
  tx: Tx,
  row: ReturnType<typeof toolServers.write> & Pick<ToolServerRow, 'id' | 'prefix' | 'transport' | 'settings'>,
): Promise<ToolServerRow | undefined> =>
  tx
    .insertInto('tool_servers')
    .values({ ...row, expected_tools: json({}), warnings: json([]) })
    .onConflict((conflict) => conflict.column('prefix').doNothing())
    .returning(columns)
    .executeTakeFirst();

/** Resets the state of a server whose address has changed: the facts about the old address no longer hold. */
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
 * Takes the policies for tools of the server from the agents that do not use it, and from their drafts, because nothing can
 * refer to it when it is deleted. Returns the ids of these agents.
 */
export const deletePoliciesOf = async (tx: Tx, id: string): Promise<string[]> => {
  const names = (
    policies: RawBuilder<unknown>,
  ) => sql`exists (select from jsonb_array_elements(${policies}) as p(policy)
      where lower(policy->>'tool_server_id') = ${id}::text)`;
  const others = (
    policies: RawBuilder<unknown>,
  ) => sql`(select coalesce(jsonb_agg(policy order by position), '[]')
        from jsonb_array_elements(${policies}) with ordinality as p(policy, position)
        where lower(policy->>'tool_server_id') <> ${id}::text)`;
  const own = sql`tool_policies`;
  const drafted = sql`draft::jsonb -> 'tool_policies'`;
  const { rows } = await sql<{
    id: string;
  }>`update agents set revision = revision + 1, updated_at = platform_now(), tool_policies = ${others(own)},
      draft = jsonb_set(draft::jsonb, '{tool_policies}', ${others(drafted)})::json
    where ${names(own)} or (draft is not null and ${names(drafted)})
    returning id`.execute(tx);
  const ids = rows.map((row) => row.id);
  await sql`update agents a set draft = null
    where id = any(${ids}::uuid[]) and draft::jsonb = agent_content(a)::jsonb`.execute(tx);
  return ids;
};

/** A server and whether its tools must be discovered again before an attempt uses them. */
export interface DueToolServer extends ToolServerRow {
  stale: boolean;
  /** Whether its tools may ask people for input. */
  may_ask: boolean;
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
      sql<boolean>`allow_input and ${allTakeInput}`.as('may_ask'),
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

/** Returns whether every replica that is alive is of a release that knows input that tools ask for. */
export const readTakesInput = async (executor: Executor): Promise<boolean> => {
  const { rows } = await sql<{ all: boolean }>`select ${allTakeInput} as all`.execute(executor);
  return rows[0]!.all;
};
