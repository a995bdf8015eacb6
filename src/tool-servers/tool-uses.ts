import { isDeepStrictEqual } from 'node:util';
import { audit } from '../audit/index.ts';
import type { Tx } from '../database/index.ts';
import type { Actor } from '../lib/principal.ts';
import { readServerPolicies } from './policies.ts';
import { findLockedToolServer, type ToolUse, updateExpectedTools } from './store.ts';
import type { ApprovalGuard } from './tool-servers.ts';
import { findLockedTool, listToolHashes, listToolUses, updateToolRow } from './tool-store.ts';
import { updateTool } from './tools.ts';

const unused: ToolUse = { policy: null, idempotent: null };

/**
 * Says how the tools of a server may be used: those that `uses` does not name as the server says. Tools that the server
 * has not listed yet get it at the discovery that finds them.
 */
export const setToolUses = async (
  tx: Tx,
  actor: Actor,
  serverId: string,
  uses: ReadonlyMap<string, ToolUse>,
  guard: ApprovalGuard,
): Promise<void> => {
  const server = (await findLockedToolServer(tx, serverId))!;
  const policies = (await readServerPolicies(tx, [serverId])).get(serverId)!;
  const after = new Map([...uses].map(([name, { policy }]) => [name, policy]));
  await guard.policies(tx, actor, policies, { ...policies, tools: after });
  const listed = new Set((await listToolHashes(tx, serverId)).map(({ name }) => name));
  const before = new Map((await listToolUses(tx, [serverId])).map(({ name, ...tool }) => [name, tool]));
  for (const name of listed) {
    const { policy, idempotent } = uses.get(name) ?? unused;
    const now = before.get(name) ?? unused;
    if (policy === now.policy && idempotent === now.idempotent) continue;
    const tool = (await findLockedTool(tx, serverId, name))!;
    await updateTool(tx, actor, tool, { policy, idempotent }, guard);
  }
  const expected = Object.fromEntries([...uses].filter(([name]) => !listed.has(name)));
  if (isDeepStrictEqual(expected, server.expected_tools)) return;
  await updateExpectedTools(tx, serverId, expected);
  await audit(tx, actor, 'tool_server.expect_tools', serverId, { tools: expected });
};

/** Gives the tools that a discovery inserted what was said of them before. The row of the server is locked. */
export const useExpectedTools = async (
  tx: Tx,
  serverId: string,
  expected: Record<string, ToolUse>,
  inserted: readonly string[],
): Promise<void> => {
  const found = inserted.filter((name) => Object.hasOwn(expected, name));
  if (found.length === 0) return;
  for (const name of found) await updateToolRow(tx, { tool_server_id: serverId, name }, expected[name]!);
  const rest = Object.entries(expected).filter(([name]) => !found.includes(name));
  await updateExpectedTools(tx, serverId, Object.fromEntries(rest));
};
