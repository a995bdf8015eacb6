import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { readConfig } from '../../src/config.ts';
import type { Database } from '../../src/database/index.ts';
import { ShiftedClock } from '../../src/lib/clock.ts';
import { createLogger } from '../../src/lib/log.ts';
import type { OpenedTools } from '../../src/tool-servers/attempt.ts';
import { createToolServers, type ToolServers } from '../../src/tool-servers/index.ts';
import { serveRoutes } from './api.ts';
import type { Client } from './http.ts';
import { testServices } from './services.ts';
import {
  startToolServer,
  type TestTool,
  type TestToolServer,
  type TestToolServerOptions,
} from './tool-server.ts';

/** A secret of tool servers. */
export const secret = 'secret-header-value-0123456789';
/** A signal that is never aborted. */
export const never = new AbortController().signal;

/** Calls the tool whose name ends in `suffix`. */
export const call = (
  tools: OpenedTools,
  suffix: string,
  args: Record<string, unknown> = {},
  depth = 0,
  signal = never,
) => tools.tools.find(({ toolName }) => toolName.endsWith(`__${suffix}`))!.call(args, { signal, depth });

/**
 * The feature with its routes on the database of `open`, for the tests of the block: what is started and opened is
 * closed after each of them.
 */
export const useToolAttempts = (open: () => Database) => {
  const clock = new ShiftedClock();
  const servers: TestToolServer[] = [];
  const opened: OpenedTools[] = [];
  const logged: string[] = [];
  let folder: string;
  let features: ToolServers;
  let http: Client;
  let closeServer: () => Promise<void>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ap-tools-'));
    const log = createLogger('info');
    log.info = ((fields: object) => void logged.push(JSON.stringify(fields))) as never;
    const config = readConfig({
      DATA_DIR: folder,
      ALLOW_STDIO_TOOL_SERVERS: 'true',
      PATH: process.env.PATH,
    });
    features = createToolServers(testServices(open(), { config, clock, log }), {
      models: { schemaWarnings: () => [] },
    });
    const served = await serveRoutes(open(), features);
    http = served.v2;
    closeServer = served.close;
  });
  afterEach(async () => {
    for (const one of opened.splice(0)) await one[Symbol.asyncDispose]();
    for (const server of servers.splice(0)) await server[Symbol.asyncDispose]();
  });
  afterAll(async () => {
    await closeServer();
    await features.stop?.();
    await rm(folder, { recursive: true, force: true });
  });

  const start = async (options?: TestToolServerOptions): Promise<TestToolServer> => {
    const server = await startToolServer(options);
    servers.push(server);
    return server;
  };
  // biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
  const create = async (fields: object): Promise<any> => {
    const response = await http.post('/tool-servers', { name: 'Ledger', default_policy: 'allow', ...fields });
    expect(response.status, response.text).toBe(200);
    return response.body;
  };
  const openTools = async (ids: string[], policies: object[] = [], signal = never): Promise<OpenedTools> => {
    const user = { id: 'agent', tool_server_ids: ids, tool_policies: policies as never };
    const tools = await features.tools.open(user, signal);
    opened.push(tools);
    return tools;
  };
  return {
    clock,
    start,
    create,
    openTools,
    /** What was logged. */
    logged,
    /** The data folder. */
    folder: () => folder,
    http: () => http,
    /** Ends the server that was started last. */
    stopLast: () => servers.pop()![Symbol.asyncDispose](),
    /** Makes the last discovery of every server older than the minute for which it counts. */
    age: () =>
      open().tx((tx) =>
        sql`update tool_servers set last_success_at = last_success_at - interval '61 s'`.execute(tx),
      ),
    /** A server with these tools, and the tools of an attempt. */
    setUp: async (tools: TestTool[], fields: object = {}, options: TestToolServerOptions = {}) => {
      const server = await start({ tools, ...options });
      const { id } = await create({ url: server.url, ...fields });
      return { server, id: id as string, tools: await openTools([id]) };
    },
  };
};
