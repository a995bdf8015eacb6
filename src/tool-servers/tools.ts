import { audit } from '../audit/index.ts';
import type { Tx } from '../database/index.ts';
import { ApiError, notFound } from '../lib/errors.ts';
import type { Actor } from '../lib/principal.ts';
import { idempotentHint } from './definitions.ts';
import type { Policy, ToolServerRow } from './store.ts';
import { acceptToolRow, findLockedTool, type ToolRow, updateToolRow } from './tool-store.ts';

export const toolStates = ['accepted', 'new', 'changed', 'missing'] as const;
export type ToolState = (typeof toolStates)[number];

/** What an agent says about one tool of a server. */
export interface ToolPolicy {
  tool_server_id: string;
  /** The server's own name of the tool. */
  tool: string;
  policy: Policy;
}

export const stateOf = (tool: ToolRow): ToolState => {
  if (!tool.present) return 'missing';
  if (tool.accepted_hash === null) return 'new';
  return tool.distrusted || tool.accepted_hash !== tool.definition_hash ? 'changed' : 'accepted';
};

/** What agents get: the accepted definition, or that of a tool that no one has accepted yet. */
export const usedDefinition = (tool: ToolRow) => tool.accepted ?? tool.definition;

/**
 * The policy of a tool for an agent: the tool's own `deny` is absolute; else the agent's policy, else the tool's, else
 * the server's default, so that an agent can be denied all but some.
 */
export const effectivePolicy = (
  server: Pick<ToolServerRow, 'default_policy'>,
  tool: Pick<ToolRow, 'policy'>,
  ofAgent?: Policy,
): Policy => (tool.policy === 'deny' ? 'deny' : (ofAgent ?? tool.policy ?? server.default_policy));

export const effectiveIdempotent = (tool: ToolRow): boolean =>
  tool.idempotent ?? idempotentHint(usedDefinition(tool));

/** Returns the tool, locked until the transaction ends. Throws 404 if there is none. */
export const lockTool = async (tx: Tx, { tool_server_id, name }: ToolRow): Promise<ToolRow> => {
  const tool = await findLockedTool(tx, tool_server_id, name);
  if (!tool) throw notFound('tool');
  return tool;
};

/** Changes how the locked tool may be used. An absent field stays as it is, null resets it. */
export const updateTool = async (
  tx: Tx,
  actor: Actor,
  before: ToolRow,
  { policy = before.policy, idempotent = before.idempotent }: Partial<Pick<ToolRow, 'policy' | 'idempotent'>>,
): Promise<ToolRow> => {
  const tool = await updateToolRow(tx, before, { policy, idempotent });
  await audit(tx, actor, 'tool_server.update_tool', tool.tool_server_id, {
    tool: tool.name,
    policy,
    idempotent,
  });
  return tool;
};

/** Accepts the locked tool as the server lists it now. Throws 412 if `hash` is not that of its present definition. */
export const acceptTool = async (tx: Tx, actor: Actor, before: ToolRow, hash: string): Promise<ToolRow> => {
  if (hash !== before.definition_hash) {
    throw new ApiError(
      'precondition_failed',
      'The definition of the tool is another one by now. Read the tool again and accept what it says.',
      { definition_hash: before.definition_hash },
    );
  }
  if (before.accepted_hash === hash && !before.distrusted) return before;
  const tool = await acceptToolRow(tx, before);
  await audit(tx, actor, 'tool_server.accept_tool', tool.tool_server_id, {
    tool: tool.name,
    definition_hash: hash,
  });
  return tool;
};
