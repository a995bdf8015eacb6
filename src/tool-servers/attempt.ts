import type { Services } from '../feature.ts';
import { Semaphore } from '../lib/semaphore.ts';
import type { GivenInput } from '../tool-inputs/index.ts';
import { type CountedOutcome, callTool, refusesAccess, type ToolCallResult } from './call.ts';
import { Connection, type ConnectionParts } from './client/connection.ts';
import type { ConnectionFailure } from './client/failures.ts';
import { type DiscoveryResult, discover } from './discovery.ts';
import { effectivePolicy, type ToolPolicy } from './policies.ts';
import { checksOf } from './schema-checks.ts';
import type { ToolServerSettingsStore } from './settings.ts';
import { listEnabledToolServers, type ToolServerRow } from './store.ts';
import { isCallable, listTools, type ToolRow } from './tool-store.ts';
import { effectiveIdempotent, stateOf, usedDefinition } from './tools.ts';

/** The last discovery of a server that an attempt relies on may be this old. */
const maxAgeSeconds = 60;
/** Time that a server may take to say which tools it has, in milliseconds. */
const discoverWithinMs = 20_000;
/** Limit of the servers of one agent that are discovered at the same time. */
const discoveredAtOnce = 8;

/** An attempt cannot have the tools of its agent. `message` is shown; it contains no secret. */
export class ToolServerError extends Error {
  readonly code: 'tool_server_unavailable' | 'tool_server_unauthorized';
  /** True if another attempt may succeed. */
  readonly retryable: boolean;
  constructor(server: Pick<ToolServerRow, 'name'>, failure: ConnectionFailure) {
    const unauthorized = failure.step === 'authenticate';
    super(
      unauthorized
        ? refusesAccess(server, failure)
        : `The tool server "${server.name}" is not available. ${failure.message}`,
    );
    this.name = 'ToolServerError';
    this.code = unauthorized ? 'tool_server_unauthorized' : 'tool_server_unavailable';
    this.retryable = !unauthorized;
  }
}

/** A tool that an agent may call. */
export interface ServerTool {
  /** Name of the tool for the model. */
  toolName: string;
  serverId: string;
  title: string | null;
  description: string;
  inputSchema: Record<string, unknown>;
  policy: 'allow' | 'require_approval';
  /** True if a call without an answer may be repeated. */
  idempotent: boolean;
  definitionHash: string;
  /** Returns what is wrong with the arguments; null if nothing is. It takes at most 0.6 s of processor time. */
  check(args: unknown): string | null;
  /**
   * Calls the tool. Wrong arguments are not sent. `depth` is that of the run (0: no agent called it), `input` what people
   * answered if the call has asked before. Rejects only with the reason of `signal`.
   */
  call(
    args: Record<string, unknown>,
    options: { signal: AbortSignal; depth: number; input?: GivenInput | undefined },
  ): Promise<ToolCallResult>;
}

/** A tool that changed, as the server describes it now. It is not offered or called until a person accepts it. */
type WithheldTool = Pick<ServerTool, 'toolName' | 'serverId' | 'inputSchema' | 'definitionHash'>;

/** The tools of one attempt. Dispose of it at the end of the attempt: that closes connections and ends processes. */
export interface OpenedTools extends AsyncDisposable {
  /** Sorted by `toolName`. */
  tools: readonly ServerTool[];
  withheld: readonly WithheldTool[];
}

/** Fields of its agent that a run needs. */
interface ToolUser {
  id: string;
  tool_server_ids: string[];
  tool_policies: ToolPolicy[];
}

export interface ToolServerTools {
  /**
   * Finds the tools of the agent for one attempt. Servers whose tools were last discovered more than 60 s ago are asked
   * again; other connections are opened when a tool is called. Rejects with ToolServerError if a server cannot be used.
   * With `discover: false` the tools are those in the database, and no server is asked. With `mayAsk` tools may ask people
   * for input, where their servers may.
   */
  open(
    agent: ToolUser,
    signal: AbortSignal,
    options?: { discover?: boolean; mayAsk?: boolean },
  ): Promise<OpenedTools>;
}

interface ToolServerToolsParts extends Pick<Services, 'db' | 'log'> {
  settings: ToolServerSettingsStore;
  connections: ConnectionParts;
  count: (outcome: CountedOutcome) => void;
}

/** The failure that decides how the attempt ends: one that no other attempt can cure comes first. */
const firstFailure = (
  results: readonly { server: ToolServerRow; result: DiscoveryResult }[],
): ToolServerError | undefined =>
  results
    .flatMap(({ server, result }) =>
      result.failure && result.row ? [new ToolServerError(server, result.failure)] : [],
    )
    .sort((a, b) => Number(a.retryable) - Number(b.retryable))[0];

const toWithheld = (tool: ToolRow): WithheldTool => ({
  toolName: tool.tool_name,
  serverId: tool.tool_server_id,
  inputSchema: tool.definition.inputSchema,
  definitionHash: tool.definition_hash,
});

const codeUnits = (a: ServerTool, b: ServerTool): number => (a.toolName < b.toolName ? -1 : 1);

/** The tools of agents, for the runtime. */
export const createToolServerTools = (parts: ToolServerToolsParts): ToolServerTools => {
  const { db, settings, connections: connectionParts, count } = parts;

  const toServerTool = (
    server: ToolServerRow,
    tool: ToolRow,
    policy: ServerTool['policy'],
    connection: Connection,
  ): ServerTool => {
    const definition = usedDefinition(tool);
    const definitionHash = tool.definition_hash;
    const idempotent = effectiveIdempotent(tool);
    const { memory } = connectionParts;
    const call = {
      memory,
      server,
      connection,
      definition,
      definitionHash,
      idempotent,
      isCallable: () => db.run((executor) => isCallable(executor, server.id, tool.name, definitionHash)),
      count,
    };
    return {
      toolName: tool.tool_name,
      serverId: server.id,
      title: definition.title ?? null,
      description: definition.description ?? '',
      inputSchema: definition.inputSchema,
      policy,
      idempotent,
      definitionHash,
      check: (args) => checksOf(definitionHash, definition).args(args),
      call: (args, options) => callTool(call, args, options),
    };
  };

  return {
    open: async (agent, signal, { discover: mayDiscover = true, mayAsk = true } = {}) => {
      const servers = await db.run((executor) =>
        listEnabledToolServers(executor, agent.tool_server_ids, maxAgeSeconds),
      );
      const connections = new Map(
        servers.map((server) => [
          server.id,
          new Connection(connectionParts, settings.open(server), mayAsk && server.may_ask),
        ]),
      );
      const close = async (): Promise<void> => {
        await Promise.all([...connections.values()].map((connection) => connection.close()));
      };
      const onAbort = () => void close();
      signal.addEventListener('abort', onAbort, { once: true });
      try {
        signal.throwIfAborted();
        const limit = new Semaphore(discoveredAtOnce);
        const discovered = await Promise.all(
          servers
            .filter(({ stale }) => stale && mayDiscover)
            .map((server) =>
              limit.run(async () => ({
                server,
                result: await discover(
                  parts,
                  server,
                  connections.get(server.id)!,
                  server.now,
                  discoverWithinMs,
                ),
              })),
            ),
        );
        signal.throwIfAborted();
        const failure = firstFailure(discovered);
        if (failure) throw failure;
        const rows = await db.run((executor) =>
          listTools(
            executor,
            servers.map(({ id }) => id),
          ),
        );
        const ofAgent = new Map(
          agent.tool_policies.map(({ tool_server_id, tool, policy }) => [
            `${tool_server_id} ${tool}`,
            policy,
          ]),
        );
        const byId = new Map(servers.map((server) => [server.id, server]));
        const tools = rows.flatMap((tool) => {
          const server = byId.get(tool.tool_server_id)!;
          const policy = effectivePolicy(server, tool, ofAgent.get(`${server.id} ${tool.name}`));
          if (stateOf(tool) !== 'accepted' || policy === 'deny') return [];
          return [toServerTool(server, tool, policy, connections.get(server.id)!)];
        });
        const withheld = rows.filter((tool) => stateOf(tool) === 'changed').map(toWithheld);
        return { tools: tools.sort(codeUnits), withheld, [Symbol.asyncDispose]: close };
      } catch (error) {
        await close();
        throw error;
      } finally {
        signal.removeEventListener('abort', onAbort);
      }
    },
  };
};
