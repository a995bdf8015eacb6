import { audit } from '../audit/index.ts';
import type { Tx } from '../database/index.ts';
import { ApiError, notFound } from '../lib/errors.ts';
import type { Actor } from '../lib/principal.ts';
import { idempotentHint } from './definitions.ts';
import { readServerPolicies } from './policies.ts';
import type { ApprovalGuard } from './tool-servers.ts';
import { acceptToolRow, findLockedTool, type ToolRow, updateToolRow } from './tool-store.ts';

export const toolStates = ['accepted', 'new', 'changed', 'missing'] as const;
export type ToolState = (typeof toolStates)[number];

export const stateOf = (tool: ToolRow): ToolState => {
  if (!tool.present) return 'missing';
  if (tool.accepted_hash === null) return 'new';
  return tool.distrusted || tool.accepted_hash !== tool.definition_hash ? 'changed' : 'accepted';
};

/** Returns the definition that agents get: the accepted one, or that of a tool that no one has accepted yet. */
export const usedDefinition = (tool: ToolRow) => tool.accepted ?? tool.definition;

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
  guard: ApprovalGuard,
): Promise<ToolRow> => {
  const server = (await readServerPolicies(tx, [before.tool_server_id])).get(before.tool_server_id)!;
  await guard.policies(tx, actor, server, {
    ...server,
    tools: new Map([...server.tools, [before.name, policy]]),
  });
  const tool = await updateToolRow(tx, before, { policy, idempotent });
  await audit(tx, actor, 'tool_server.update_tool', tool.tool_server_id, {
    tool: tool.name,
    policy,
    idempotent,
  });
  return tool;
};

/** Accepts the locked tool as the server lists it now. Throws 412 if `hash` is not that of its present definition. */
export const acceptTool = async (
  tx: Tx,
  actor: Actor,
  before: ToolRow,
  hash: string,
  guard: ApprovalGuard,
): Promise<ToolRow> => {
  if (hash !== before.definition_hash) {
    throw new ApiError(
      'precondition_failed',
      'The definition of the tool is another one by now. Read the tool again and accept what it says.',
      { definition_hash: before.definition_hash },
    );
  }
  if (before.accepted_hash === hash && !before.distrusted) return before;
  const { tool_server_id: id, name } = before;
  const server = (await readServerPolicies(tx, [id])).get(id)!;
  await guard.acceptance(tx, actor, server, { name, isNew: before.accepted_hash === null });
  const tool = await acceptToolRow(tx, before);
  await audit(tx, actor, 'tool_server.accept_tool', tool.tool_server_id, {
    tool: tool.name,
    definition_hash: hash,
  });
  return tool;
};
