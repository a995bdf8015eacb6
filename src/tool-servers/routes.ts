import { audit } from '../audit/index.ts';
import type { Database } from '../database/index.ts';
import { finder, jsonRoute, listPage, pageQuery, type Route } from '../http/index.ts';
import { notFound } from '../lib/errors.ts';
import type { Principal } from '../lib/principal.ts';
import type { ToolServerTest } from './connection-test.ts';
import { toolServerResponse } from './responses.ts';
import { createBody, testResult, toolServer, toolServerPage, updateBody } from './schemas.ts';
import type { ToolServerSettingsStore } from './settings.ts';
import { findToolServer, listToolServers, type ToolServerRow } from './store.ts';
import {
  type ApprovalGuard,
  type CheckUnused,
  checkMayRunPrograms,
  createToolServer,
  deleteToolServer,
  lockToDelete,
  lockToUpdate,
  updateToolServer,
} from './tool-servers.ts';
import { countTools } from './tool-store.ts';

export interface ToolServerRouteParts {
  db: Database;
  settings: ToolServerSettingsStore;
  allowStdio: boolean;
  checkUnused: CheckUnused;
  guard: ApprovalGuard;
  /** Discovers the tools of a server. Never rejects because of what the server does. */
  discover: (row: ToolServerRow, withinMs: number) => Promise<unknown>;
  test: (row: ToolServerRow) => Promise<ToolServerTest>;
}

const path = '/tool-servers';
const onePath = `${path}/{tool_server_id}`;

/** Time that a server may take to be discovered when it is created, and when a person asks for it, in milliseconds. */
export const createWithinMs = 8_000;
const discoverWithinMs = 20_000;

export const toolServerRoutes = ({
  db,
  settings,
  allowStdio,
  checkUnused,
  guard,
  discover,
  test,
}: ToolServerRouteParts): Route[] => {
  const find = finder(db, 'tool server', 'tool_server_id', findToolServer);
  /** Also throws 403 unless the caller may change it. */
  const findToChange = async (request: Parameters<typeof find>[0] & { principal: Principal }) => {
    const row = await find(request);
    checkMayRunPrograms(request.principal, row.transport);
    return row;
  };

  /** The server as it is now, with the counts of its tools. */
  const read = (id: string) =>
    db.run(async (executor) => {
      const row = await findToolServer(executor, id);
      if (!row) throw notFound('tool server');
      return toolServerResponse(settings.open(row), (await countTools(executor, [id])).get(id));
    });

  return [
    jsonRoute({
      id: 'listToolServers',
      role: 'builder',
      scope: 'agents:read',
      request: `GET ${path}`,
      summary: 'List tool servers',
      query: pageQuery,
      response: toolServerPage,
      handler: listPage(
        db,
        async (executor, page) => {
          const rows = await listToolServers(executor, page);
          const counts = await countTools(
            executor,
            rows.map(({ id }) => id),
          );
          return rows.map((row) => ({ id: row.id, row, counts: counts.get(row.id) }));
        },
        ({ row, counts }) => toolServerResponse(settings.open(row), counts),
      ),
    }),
    jsonRoute({
      id: 'createToolServer',
      role: 'builder',
      scope: 'agents',
      request: `POST ${path}`,
      summary: 'Create a tool server',
      description:
        'Its tools are discovered and accepted. It is also created if it does not respond within 10 s: `state` and `last_error` say so. The transport `stdio` requires the role admin.',
      body: {
        schema: createBody,
        precheck: ({ transport }, principal) => checkMayRunPrograms(principal, transport),
      },
      response: toolServer,
      idempotent: true,
      cache: 'revision',
      handler: async (context) => {
        let row: ToolServerRow | undefined;
        // A repeated request gets the server as it was created, before its tools were discovered.
        await context.transaction(async (tx) => {
          row = await createToolServer(tx, context.actor, settings, allowStdio, context.body);
          context.etag(row.revision);
          return toolServerResponse(settings.open(row), undefined);
        });
        await discover(row!, createWithinMs);
        return read(row!.id);
      },
    }),
    jsonRoute({
      id: 'getToolServer',
      role: 'builder',
      scope: 'agents:read',
      request: `GET ${onePath}`,
      summary: 'Get a tool server',
      description: 'The response contains the names of its secrets, not their values.',
      find,
      response: toolServer,
      cache: 'revision',
      handler: async ({ found, etag }) => {
        etag(found.revision);
        const counts = await db.run((executor) => countTools(executor, [found.id]));
        return toolServerResponse(settings.open(found), counts.get(found.id));
      },
    }),
    jsonRoute({
      id: 'updateToolServer',
      role: 'builder',
      scope: 'agents',
      request: `PATCH ${onePath}`,
      summary: 'Update a tool server',
      description:
        'Another `url` or `command` needs the secrets again, and every tool must be accepted again. A server with the transport `stdio` requires the role admin.',
      find: findToChange,
      body: {
        schema: updateBody,
        precheck: ({ transport }, principal) => checkMayRunPrograms(principal, transport),
      },
      otherStatuses: [403],
      response: toolServer,
      cache: 'revision',
      lock: (tx, { found, body }) => lockToUpdate(tx, settings, found.id, body),
      handler: ({ body, actor, transaction, etag }) =>
        transaction(async (tx, before) => {
          const row = await updateToolServer(tx, actor, settings, before, body, guard);
          etag(row.revision);
          return toolServerResponse(settings.open(row), (await countTools(tx, [row.id])).get(row.id));
        }),
    }),
    jsonRoute({
      id: 'deleteToolServer',
      role: 'builder',
      scope: 'agents',
      request: `DELETE ${onePath}`,
      summary: 'Delete a tool server',
      description:
        'Returns 412 with `agent_ids` while agents name it. A server with the transport `stdio` requires the role admin.',
      find: findToChange,
      otherStatuses: [403, 412],
      lock: (tx, { found }) => lockToDelete(tx, found.id),
      handler: ({ actor, transaction }) =>
        transaction((tx, row) => deleteToolServer(tx, actor, checkUnused, row)),
    }),
    jsonRoute({
      id: 'testToolServer',
      role: 'builder',
      scope: 'agents',
      request: `POST ${onePath}/test`,
      summary: 'Test a tool server',
      description: 'Connects to it as agents do, discovers its tools, and returns which steps succeeded.',
      find,
      response: testResult,
      handler: async ({ found, actor }) => {
        const result = await test(found);
        await db.tx((tx) => audit(tx, actor, 'tool_server.test', found.id, { ok: result.ok }));
        return result;
      },
    }),
    jsonRoute({
      id: 'discoverTools',
      role: 'builder',
      scope: 'agents',
      request: `POST ${onePath}/discover`,
      summary: 'Discover the tools of a tool server',
      description:
        'Tools that are new, or that changed since they were accepted, wait to be accepted. If the server does not respond, `state` and `last_error` say so.',
      find,
      response: toolServer,
      handler: async ({ found, actor }) => {
        await discover(found, discoverWithinMs);
        const response = await read(found.id);
        await db.tx((tx) => audit(tx, actor, 'tool_server.discover', found.id, { state: response.state }));
        return response;
      },
    }),
  ];
};
