import type { Tx } from '../database/index.ts';
import { ApiError } from '../lib/errors.ts';
import { type Actor, roleAllows } from '../lib/principal.ts';
import {
  type ApprovalGuard,
  loosensPolicies,
  policyOf,
  readServerPolicies,
  type ServerPolicies,
  type ToolPolicy,
} from '../tool-servers/index.ts';
import { type Agent, listAgentsUsing } from './store.ts';

/**
 * Approvals stand above those whom they bind: what an agent may do without its approval role is only loosened by someone who
 * has that role.
 */

/** The fields of an agent that say who controls its tool calls. */
type Controls = Pick<
  Agent,
  'id' | 'name' | 'approval_role' | 'tool_server_ids' | 'tool_policies' | 'settings'
>;

const refusal = ({ name, approval_role }: Controls, what: string): ApiError =>
  new ApiError(
    'forbidden',
    `${what} loosens what the agent "${name}" may do. That requires its approval role: ${approval_role} or a higher one.`,
  );

const useOf = (
  { tool_server_ids, tool_policies }: Controls,
  server: ServerPolicies,
): { server: ServerPolicies; own: readonly ToolPolicy[] } | null =>
  tool_server_ids.some((id) => id.toLowerCase() === server.id) ? { server, own: tool_policies } : null;

/** Throws 403 if the locked agent would be bound less than before, and the actor has not its present approval role. */
export const checkMayLoosen = async (
  tx: Tx,
  { principal }: Actor,
  before: Controls,
  after: Controls,
): Promise<void> => {
  if (roleAllows(principal.role, before.approval_role)) return;
  if (!roleAllows(after.approval_role, before.approval_role)) throw refusal(before, 'A lower approval_role');
  if (before.settings.approver_not_requester && !after.settings.approver_not_requester) {
    throw refusal(before, 'approver_not_requester: false');
  }
  const ids = [...new Set([...before.tool_server_ids, ...after.tool_server_ids])];
  const servers = await readServerPolicies(tx, ids);
  for (const server of servers.values()) {
    if (loosensPolicies(useOf(before, server), useOf(after, server))) {
      throw refusal(before, 'A looser tool policy');
    }
  }
};

/** The agents that use the server and whose approval role the actor has not. */
const boundAgents = async (tx: Tx, { principal }: Actor, { id }: ServerPolicies): Promise<Agent[]> =>
  principal.role === 'admin'
    ? []
    : (await listAgentsUsing(tx, id)).filter(
        ({ approval_role }) => !roleAllows(principal.role, approval_role),
      );

/** The same for changes of tool servers and their tools, which concern each agent that uses them. */
export const approvalGuard: ApprovalGuard = {
  policies: async (tx, actor, before, after) => {
    for (const agent of await boundAgents(tx, actor, before)) {
      if (loosensPolicies(useOf(agent, before), useOf(agent, after))) {
        throw refusal(agent, 'A looser tool policy');
      }
    }
  },
  acceptance: async (tx, actor, server, { name, isNew }) => {
    for (const agent of await boundAgents(tx, actor, server)) {
      const policy = policyOf({ server, own: agent.tool_policies }, name);
      // Each call of a new tool that requires approval is decided by that role anyway.
      if (policy === 'allow' || (policy === 'require_approval' && !isNew)) {
        throw refusal(agent, `Accepting the tool ${name}`);
      }
    }
  },
};
