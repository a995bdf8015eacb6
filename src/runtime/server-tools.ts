import type { Agent } from '../agents/index.ts';
import type { ServerTool, ToolServerTools } from '../tool-servers/index.ts';
import type { OpenedTools } from './run.ts';
import type { Tool } from './tools.ts';

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
  call: (args, { signal, depth }) => tool.call(args, { signal, depth }),
});

/** The tools of an agent for one attempt: `ownTools`, those of the platform, and those of its tool servers. */
export const openTools =
  (toolServers: ToolServerTools, ownTools: readonly Tool[]) =>
  async (agent: Agent, signal: AbortSignal): Promise<OpenedTools> => {
    if (agent.tool_server_ids.length === 0) {
      return { tools: ownTools, [Symbol.asyncDispose]: async () => {} };
    }
    const policies = agent.tool_policies.map((policy) => ({
      ...policy,
      tool_server_id: policy.tool_server_id.toLowerCase(),
    }));
    const opened = await toolServers.open({ ...agent, tool_policies: policies }, signal);
    return {
      tools: [...ownTools, ...opened.tools.map(toTool)],
      [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
    };
  };
