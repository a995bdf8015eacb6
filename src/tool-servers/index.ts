import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { databaseNow } from '../database/index.ts';
import type { Feature, Services } from '../feature.ts';
import { counter } from '../lib/metrics.ts';
import { createToolServerTools, type ToolServerTools } from './attempt.ts';
import { callOutcomes } from './call.ts';
import { Connection } from './client/connection.ts';
import { ServerMemory } from './client/memory.ts';
import { testToolServer } from './connection-test.ts';
import { type DiscoveryResult, discover } from './discovery.ts';
import { toolServerRoutes } from './routes.ts';
import { createSettingsStore, type OpenedToolServer } from './settings.ts';
import type { ToolServerRow } from './store.ts';
import { toolRoutes } from './tool-routes.ts';
import type { CheckUnused } from './tool-servers.ts';
import { usedToolServerRoutes } from './used-routes.ts';

export {
  type OpenedTools,
  type ServerTool,
  ToolServerError,
  type ToolServerTools,
} from './attempt.ts';
export { lockToolServersForShare } from './store.ts';
export type { ToolPolicy } from './tools.ts';

export interface ToolServers extends Feature {
  /** For the runtime. */
  tools: ToolServerTools;
}

/** Tool servers: servers of the Model Context Protocol whose tools agents call. */
export const createToolServers = (
  services: Services,
  { checkUnused }: { checkUnused: CheckUnused },
): ToolServers => {
  const { config, db, vault, egress, log, clock } = services;
  const settings = createSettingsStore(vault);
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
    const connection = new Connection(connections, server);
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
        discover: (row, withinMs) => discoverOnce(settings.open(row), withinMs),
        test,
      }),
      ...toolRoutes(db),
      ...usedToolServerRoutes(db, settings),
    ],
    secrets: settings.secrets,
    metrics: [calls, discoveries],
    tools: createToolServerTools({
      db,
      log,
      settings,
      connections,
      count: (outcome) => calls.inc({ outcome }),
    }),
    // What a process that was killed left behind.
    start: () => rm(folder, { recursive: true, force: true }),
    stop: async () => {
      await Promise.all([...connections.live].map((connection) => connection.close()));
    },
  };
};
