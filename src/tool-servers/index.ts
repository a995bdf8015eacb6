import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { databaseNow, type Executor, everything, type Tx } from '../database/index.ts';
import type { Feature, Services } from '../feature.ts';
import { createHooks } from '../lib/hooks.ts';
import { counter } from '../lib/metrics.ts';
import type { Actor } from '../lib/principal.ts';
import { createToolServerTools, type ToolServerTools } from './attempt.ts';
import { callOutcomes } from './call.ts';
import { Connection } from './client/connection.ts';
import { ServerMemory } from './client/memory.ts';
import { testToolServer } from './connection-test.ts';
import { type DiscoveryResult, discover } from './discovery.ts';
import { pageRoutes } from './page-routes.ts';
import type { SchemaWarnings } from './responses.ts';
import { createWithinMs, toolServerRoutes } from './routes.ts';
import { createSettingsStore, type OpenedToolServer } from './settings.ts';
import {
  findToolServer,
  listToolServers,
  readTakesInput,
  type ToolServerRow,
  type ToolUse,
  toolServers,
} from './store.ts';
import { toolRoutes } from './tool-routes.ts';
import {
  type ApprovalGuard,
  type CheckUnused,
  createToolServer,
  deleteToolServer,
  lockToDelete,
  lockToUpdate,
  type NewToolServer,
  type ToolServerChanges,
  updateToolServer,
} from './tool-servers.ts';
import { listToolUses } from './tool-store.ts';
import { setToolUses } from './tool-uses.ts';

export {
  type ServerTool,
  ToolServerError,
  type ToolServerTools,
} from './attempt.ts';
export {
  loosensPolicies,
  policyOf,
  readServerPolicies,
  type ServerPolicies,
  type ToolPolicy,
} from './policies.ts';
export { form as toolServerForm } from './schemas.ts';
export { lockToolServersForShare, policies, type ToolUse } from './store.ts';
export type { ApprovalGuard } from './tool-servers.ts';

/** Agents, which use tool servers. */
interface User {
  checkUnused: CheckUnused;
  guard: ApprovalGuard;
}

export interface ToolServers extends Feature {
  /** All servers with their secrets, and how their tools may be used where they do not say so themselves. */
  list(executor: Executor): Promise<(NewToolServer & { id: string; tools: Record<string, ToolUse> })[]>;
  create(tx: Tx, actor: Actor, body: NewToolServer): Promise<ToolServerRow>;
  /** Throws 422 for another address without every stored secret. */
  update(tx: Tx, actor: Actor, id: string, changes: ToolServerChanges): Promise<ToolServerRow>;
  /** Says how its tools may be used: those that `uses` does not name as the server says. */
  setToolUses(tx: Tx, actor: Actor, id: string, uses: ReadonlyMap<string, ToolUse>): Promise<void>;
  /** Does not check whether agents use it: its caller does, at the end of the transaction (`checkUnused`). */
  delete(tx: Tx, actor: Actor, id: string): Promise<void>;
  /** Throws 412 with `agent_ids` while agents use it. */
  checkUnused: CheckUnused;
  /** Discovers the tools of a server that was created, as its route does. Never rejects because of the server. */
  discover(id: string): Promise<unknown>;
  /** Asks `user` before a server is deleted, and before its tools may be called with less control. */
  usedBy(user: User): void;
  /** For the runtime. */
  tools: ToolServerTools;
}

/** Tool servers: servers of the Model Context Protocol whose tools agents call. */
export const createToolServers = (
  services: Services,
  { models }: { models: { schemaWarnings: SchemaWarnings } },
): ToolServers => {
  const { config, db, vault, egress, log, clock } = services;
  const settings = createSettingsStore(vault);
  const unused = createHooks<Parameters<CheckUnused>>();
  const policies = createHooks<Parameters<ApprovalGuard['policies']>>();
  const acceptance = createHooks<Parameters<ApprovalGuard['acceptance']>>();
  const checkUnused: CheckUnused = unused.call;
  const guard: ApprovalGuard = { policies: policies.call, acceptance: acceptance.call };
  const folder = join(resolve(config.dataDir), 'tool-servers');
  const connections = {
    egress,
    log,
    memory: new ServerMemory(clock),
    folder,
    path: config.path,
    allowStdio: config.allowStdioToolServers,
    live: new Set<Connection>(),
  };

  const calls = counter(
    'agent_platform_tool_calls_total',
    'Calls of tools of tool servers by this replica, by how they ended',
    ['outcome'],
  );
  const discoveries = counter(
    'agent_platform_tool_discoveries_total',
    'Discoveries of the tools of a tool server by this replica that a person asked for, by how they ended',
    ['outcome'],
  );
  // A series that appears with 1 shows no increase to an alert.
  for (const outcome of callOutcomes) calls.inc({ outcome }, 0);
  for (const outcome of ['ok', 'failed']) discoveries.inc({ outcome }, 0);

  /** Runs `fn` with a connection of its own, whose end is not waited for. */
  const withConnection = async <T>(
    server: OpenedToolServer,
    fn: (connection: Connection) => Promise<T>,
  ): Promise<T> => {
    // As agents connect: a server may list other tools for other clients.
    const mayAsk = server.row.allow_input && (await db.run(readTakesInput));
    const connection = new Connection(connections, server, mayAsk);
    try {
      return await fn(connection);
    } finally {
      void connection.close();
    }
  };

  const discoverOnce = async (server: OpenedToolServer, withinMs: number): Promise<DiscoveryResult> => {
    const beganAt = new Date(await db.run(databaseNow));
    const result = await withConnection(server, (connection) =>
      discover({ db, log }, server.row, connection, beganAt, withinMs),
    );
    discoveries.inc({ outcome: result.failure ? 'failed' : 'ok' });
    return result;
  };

  const test = (row: ToolServerRow) => {
    const server = settings.open(row);
    return testToolServer(egress, server, (withinMs) => discoverOnce(server, withinMs));
  };

  return {
    tag: {
      name: 'Tool servers',
      description: 'Servers of the Model Context Protocol whose tools agents can use.',
    },
    routes: [
      ...toolServerRoutes({
        db,
        settings,
        allowStdio: config.allowStdioToolServers,
        checkUnused,
        guard,
        discover: (row, withinMs) => discoverOnce(settings.open(row), withinMs),
        test,
      }),
      ...toolRoutes(db, guard, models.schemaWarnings),
      ...pageRoutes(db, settings),
    ],
    list: async (executor) => {
      const rows = await listToolServers(executor, everything);
      const ids = rows.map(({ id }) => id);
      const uses = Map.groupBy(await listToolUses(executor, ids), (use) => use.tool_server_id);
      return rows.map((row) => ({
        ...toolServers.write(row),
        ...settings.open(row).settings,
        id: row.id,
        prefix: row.prefix,
        tools: {
          ...row.expected_tools,
          ...Object.fromEntries(
            (uses.get(row.id) ?? []).map(({ name, policy, idempotent }) => [name, { policy, idempotent }]),
          ),
        },
      }));
    },
    create: (tx, actor, body) => createToolServer(tx, actor, settings, config.allowStdioToolServers, body),
    update: async (tx, actor, id, changes) => {
      const before = await lockToUpdate(tx, settings, id, changes);
      return updateToolServer(tx, actor, settings, before, changes, guard);
    },
    setToolUses: (tx, actor, id, uses) => setToolUses(tx, actor, id, uses, guard),
    delete: async (tx, actor, id) => deleteToolServer(tx, actor, async () => {}, await lockToDelete(tx, id)),
    checkUnused,
    discover: async (id) => {
      const row = await db.run((executor) => findToolServer(executor, id));
      return row && discoverOnce(settings.open(row), createWithinMs);
    },
    usedBy: (user) => {
      unused.add(user.checkUnused);
      policies.add(user.guard.policies);
      acceptance.add(user.guard.acceptance);
    },
    secrets: settings.secrets,
    metrics: [calls, discoveries],
    tools: createToolServerTools({
      db,
      log,
      settings,
      connections,
      count: (outcome) => calls.inc({ outcome }),
    }),
    // Removes files that a killed platform left behind.
    start: () => rm(folder, { recursive: true, force: true }),
    stop: async () => {
      await Promise.all([...connections.live].map((connection) => connection.close()));
    },
  };
};
