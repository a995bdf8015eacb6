import type { Database } from '../database/index.ts';
import { finder, jsonRoute, type Route } from '../http/index.ts';
import { notFound } from '../lib/errors.ts';
import { pause } from '../lib/pause.ts';
import { isStorable } from '../lib/text.ts';
import { type SchemaWarnings, toToolResponse } from './responses.ts';
import { acceptToolBody, tool, toolPage, updateToolBody } from './schemas.ts';
import { findToolServer, type ToolServerRow } from './store.ts';
import type { ApprovalGuard } from './tool-servers.ts';
import { findTool, listTools, type ToolRow } from './tool-store.ts';
import { acceptTool, lockTool, updateTool } from './tools.ts';

const path = '/tool-servers/{tool_server_id}/tools';
const onePath = `${path}/{tool}`;

/** The tools of a server. `{tool}` is the server's own name, percent-encoded. */
export const toolRoutes = (db: Database, guard: ApprovalGuard, schemaWarnings: SchemaWarnings): Route[] => {
  const toolResponse = (server: ToolServerRow, row: ToolRow) => toToolResponse(server, row, schemaWarnings);
  const findServer = finder(db, 'tool server', 'tool_server_id', findToolServer);
  const find = async (request: Parameters<typeof findServer>[0]) => {
    const server = await findServer(request);
    const name = request.params.tool!;
    const found = isStorable(name)
      ? await db.run((executor) => findTool(executor, server.id, name))
      : undefined;
    if (!found) throw notFound('tool');
    return { server, tool: found };
  };

  return [
    jsonRoute({
      id: 'listTools',
      role: 'builder',
      scope: 'agents:read',
      request: `GET ${path}`,
      summary: 'List the tools of a tool server',
      description: 'All tools, by name, in one page.',
      find: findServer,
      response: toolPage,
      handler: async ({ found }) => {
        const data = [];
        for (const row of await db.run((executor) => listTools(executor, [found.id]))) {
          data.push(toolResponse(found, row));
          // There can be thousands, with schemas that take milliseconds each to judge.
          if (data.length % 2 === 0) await pause();
        }
        return { data, has_more: false, next: '' };
      },
    }),
    jsonRoute({
      id: 'updateTool',
      role: 'builder',
      scope: 'agents',
      request: `PATCH ${onePath}`,
      summary: 'Update a tool',
      description: 'Says how agents may use it. null resets a field.',
      find,
      body: updateToolBody,
      response: tool,
      handler: ({ found, body, transaction, actor }) =>
        transaction(async (tx) => {
          const before = await lockTool(tx, found.tool);
          return toolResponse(found.server, await updateTool(tx, actor, before, body, guard));
        }),
    }),
    jsonRoute({
      id: 'acceptTool',
      role: 'builder',
      scope: 'agents',
      request: `POST ${onePath}/accept`,
      summary: 'Accept a tool as it is now',
      description:
        'Agents get a new or changed tool only after this. Returns 412 if `definition_hash` is not that of its present definition.',
      find,
      body: acceptToolBody,
      otherStatuses: [412],
      response: tool,
      handler: ({ found, body, transaction, actor }) =>
        transaction(async (tx) => {
          const before = await lockTool(tx, found.tool);
          return toolResponse(found.server, await acceptTool(tx, actor, before, body.definition_hash, guard));
        }),
    }),
  ];
};
