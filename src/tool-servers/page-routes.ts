import type { Database, Executor } from '../database/index.ts';
import { finder, jsonRoute, listPage, pageQuery, type Route, text } from '../http/index.ts';
import { toolServerResponse } from './responses.ts';
import { toolServerHost, usedToolServer, usedToolServerPage } from './schemas.ts';
import type { ToolServerSettingsStore } from './settings.ts';
import { findToolServer, listToolServers, type ToolServerRow } from './store.ts';
import { countTools } from './tool-store.ts';
import { listToolServerUses } from './use-store.ts';

const reads = { role: 'builder', scope: 'agents:read', base: 'app' } as const;

/** For the application: tool servers with the agents that use them and what waits to be accepted. */
export const pageRoutes = (db: Database, settings: ToolServerSettingsStore): Route[] => {
  const toResponses = async (executor: Executor, rows: readonly ToolServerRow[]) => {
    const ids = rows.map(({ id }) => id);
    const counts = await countTools(executor, ids);
    const uses = await listToolServerUses(executor, ids);
    return rows.map((row) => ({
      ...toolServerResponse(settings.open(row), counts.get(row.id)),
      new_count: counts.get(row.id)?.new_count ?? 0,
      // Results from an earlier address say nothing about the present one.
      last_checked_at: row.state === 'unknown' ? null : row.discovery_began_at,
      used_by: uses.get(row.id)!,
    }));
  };
  const find = finder(db, 'tool server', 'tool_server_id', findToolServer);
  return [
    jsonRoute({
      ...reads,
      id: 'listUsedToolServers',
      request: 'GET /tool-servers',
      summary: 'List tool servers with the agents that use them',
      query: pageQuery.extend({ q: text(200).optional().describe('A part of the name or of the prefix.') }),
      response: usedToolServerPage,
      handler: listPage(db, async (executor, page) =>
        toResponses(executor, await listToolServers(executor, page, page.q)),
      ),
    }),
    jsonRoute({
      ...reads,
      id: 'getUsedToolServer',
      request: 'GET /tool-servers/{tool_server_id}',
      summary: 'Get a tool server with the agents that use it',
      description: 'The ETag is that of the tool server, for a change of it.',
      find,
      response: usedToolServer,
      cache: 'revision',
      handler: async ({ found, etag }) => {
        etag(found.revision);
        return (await db.run((executor) => toResponses(executor, [found])))[0]!;
      },
    }),
    jsonRoute({
      // Whoever answers a tool has to know who asks: members do, and read no more of a tool server.
      role: 'member',
      scope: 'reviews:read',
      base: 'app',
      id: 'getToolServerHost',
      request: 'GET /tool-servers/{tool_server_id}/host',
      summary: 'Get the name and the host of a tool server',
      find,
      response: toolServerHost,
      handler: async ({ found }) => {
        const opened = settings.open(found).settings;
        return { name: found.name, host: opened.transport === 'http' ? new URL(opened.url).host : null };
      },
    }),
  ];
};
