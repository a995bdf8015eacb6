import type { Agent } from '../agents/index.ts';
import type { AgentFrames } from '../data-frames/index.ts';
import type { ModelTool, ModelTools } from '../semantic-data-models/index.ts';
import type { ServerTool, ToolServerTools } from '../tool-servers/index.ts';
import { define, type OpenedTools, type Tool } from './tools.ts';

/** A tool of a tool server as the loop uses it. */
const toTool = (tool: ServerTool): Tool => ({
  name: tool.toolName,
  description: tool.description,
  inputSchema: tool.inputSchema,
  idempotent: tool.idempotent,
  policy: tool.policy,
  serverId: tool.serverId,
  definitionHash: tool.definitionHash,
  check: (args) => tool.check(args),
  call: (args, { signal, depth, input }) => tool.call(args, { signal, depth, input }),
});

/** A tool of data models: it reads only, so it needs no approval. */
const fromModelTool =
  (frames: AgentFrames) =>
  ({ name, description, schema, call }: ModelTool): Tool =>
    define({ name, description }, schema, (args, { owner, agentId, signal }) =>
      call(args, { signal, keep: frames.keepAnswer({ owner, agentId, signal }) }),
    );

/**
 * The tools of an agent for one attempt: those of `ownTools` that its settings name, and those of its data models and of
 * its tool servers. With `discover: false` nothing is contacted before a tool is called; with `mayAsk: false` tools cannot ask for
 * input.
 */
export const openTools =
  (
    toolServers: ToolServerTools,
    { modelTools, frames }: { modelTools: ModelTools; frames: AgentFrames },
    ownTools: readonly Tool[],
  ) =>
  async (
    agent: Agent,
    signal: AbortSignal,
    options: { discover?: boolean; mayAsk?: boolean } = {},
  ): Promise<OpenedTools> => {
    const wanted: readonly string[] = agent.settings.builtin_tools;
    const own = [
      ...ownTools.filter(({ name }) => wanted.includes(name)),
      ...modelTools(agent.semantic_data_model_ids).map(fromModelTool(frames)),
    ];
    if (agent.tool_server_ids.length === 0) {
      return { tools: own, [Symbol.asyncDispose]: async () => {} };
    }
    const policies = agent.tool_policies.map((policy) => ({
      ...policy,
      tool_server_id: policy.tool_server_id.toLowerCase(),
    }));
    const opened = await toolServers.open({ ...agent, tool_policies: policies }, signal, options);
    return {
      tools: [...own, ...opened.tools.map(toTool)],
      withheld: opened.withheld.map(({ toolName, ...tool }) => ({ name: toolName, ...tool })),
      [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
    };
  };
