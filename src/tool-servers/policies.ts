import type { Executor } from '../database/index.ts';
import { listServerDefaults, type Policy, type ToolServerRow, type ToolUse } from './store.ts';
import { listToolUses, type ToolRow } from './tool-store.ts';

/** Policy of an agent for one tool of a server. */
export interface ToolPolicy {
  tool_server_id: string;
  /** The server's own name of the tool. */
  tool: string;
  policy: Policy;
}

/**
 * The policy of a tool for an agent: the tool's own `deny` is absolute; else the agent's policy, else the tool's, else
 * the server's default, so that an agent can be denied all but some.
 */
export const effectivePolicy = (
  server: Pick<ToolServerRow, 'default_policy'>,
  tool: Pick<ToolRow, 'policy'>,
  ofAgent?: Policy,
): Policy => (tool.policy === 'deny' ? 'deny' : (ofAgent ?? tool.policy ?? server.default_policy));

export interface ServerPolicies {
  id: string;
  default_policy: Policy;
  /** The policies of its tools, by the server's names; those that it has not listed yet, too. Absent is null. */
  tools: ReadonlyMap<string, Policy | null>;
}

/** Stands for each tool that nothing names. No tool has this name. */
const anyTool = '';

const expectedPolicies = (expected: Record<string, ToolUse>): [string, Policy | null][] =>
  Object.entries(expected).map(([name, { policy }]) => [name, policy]);

/** The policies of the servers that exist, by their ids. */
export const readServerPolicies = async (
  executor: Executor,
  ids: readonly string[],
): Promise<Map<string, ServerPolicies>> => {
  const listed = Map.groupBy(await listToolUses(executor, ids), ({ tool_server_id }) => tool_server_id);
  return new Map(
    (await listServerDefaults(executor, ids)).map(({ id, default_policy, expected_tools }) => {
      const own = (listed.get(id) ?? []).map(({ name, policy }): [string, Policy | null] => [name, policy]);
      return [id, { id, default_policy, tools: new Map([...expectedPolicies(expected_tools), ...own]) }];
    }),
  );
};

/** Use of a server's tools by an agent; null: the agent does not use the server. */
export interface ToolServerUse {
  server: ServerPolicies;
  /** The agent's own policies, of all servers. */
  own: readonly ToolPolicy[];
}

export const policyOf = ({ server, own }: ToolServerUse, tool: string): Policy => {
  const ofAgent = own.find((one) => one.tool_server_id === server.id && one.tool === tool)?.policy;
  return effectivePolicy(server, { policy: server.tools.get(tool) ?? null }, ofAgent);
};

const namesOf = ({ server, own }: ToolServerUse): string[] => [
  ...server.tools.keys(),
  ...own.filter(({ tool_server_id }) => tool_server_id === server.id).map(({ tool }) => tool),
];

const strictness: Record<Policy, number> = { allow: 0, require_approval: 1, deny: 2 };

const isLooser = (before: Policy, after: Policy): boolean => strictness[after] < strictness[before];

/**
 * Returns whether `after` lets an agent use some tool with less control than `before`. With a server that is new to the agent it is
 * only a tool that no one has to approve.
 */
export const loosensPolicies = (before: ToolServerUse | null, after: ToolServerUse | null): boolean => {
  if (after === null) return false;
  const names = new Set([anyTool, ...(before ? namesOf(before) : []), ...namesOf(after)]);
  return [...names].some((name) =>
    before ? isLooser(policyOf(before, name), policyOf(after, name)) : policyOf(after, name) === 'allow',
  );
};
