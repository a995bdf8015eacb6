import { agentCalls } from '../agents/index.ts';
import { audit } from '../audit/index.ts';
import type { Tx } from '../database/index.ts';
import { notFound } from '../lib/errors.ts';
import { isId } from '../lib/ids.ts';
import type { Actor } from '../lib/principal.ts';
import { deleteScopeRow, findScope, insertScope, listScopes, type ScopeRow } from './store.ts';

/** A scope in a request. `agent_id` is only used for the scope `agent`. */
interface ScopeName {
  scope: 'global' | 'agent';
  agent_id?: string | undefined;
}

/** The agent of a scope; null: the global one. */
export const agentOf = ({ scope, agent_id }: ScopeName): string | null =>
  scope === 'agent' ? agent_id! : null;

const auditScope = (
  tx: Tx,
  actor: Actor,
  action: 'integration_scope.create' | 'integration_scope.delete',
  integrationId: string,
  agentId: string | null,
): Promise<void> => {
  const details = { scope: agentId === null ? 'global' : 'agent', agent_id: agentId };
  return audit(tx, actor, action, integrationId, details, 'integration');
};

/** Creates a scope, or returns the existing one. The integration is locked. Throws 404 for an unknown agent. */
export const createScope = async (
  tx: Tx,
  actor: Actor,
  integrationId: string,
  agentId: string | null,
): Promise<ScopeRow> => {
  if (agentId !== null) await agentCalls.lock(tx, agentId, 'share');
  const existing = await findScope(tx, integrationId, agentId);
  if (existing) return existing;
  const row = await insertScope(tx, integrationId, agentId);
  await auditScope(tx, actor, 'integration_scope.create', integrationId, row.agent_id);
  return row;
};

/** Deletes a scope. The integration is locked. Throws 404 if there is no such scope. */
export const deleteScope = async (
  tx: Tx,
  actor: Actor,
  integrationId: string,
  agentId: string | null,
): Promise<void> => {
  if ((agentId !== null && !isId(agentId)) || !(await deleteScopeRow(tx, integrationId, agentId))) {
    throw notFound('scope');
  }
  await auditScope(tx, actor, 'integration_scope.delete', integrationId, agentId);
};

/** Gives the locked integration these scopes and no others; null is the global one. */
export const setScopes = async (
  tx: Tx,
  actor: Actor,
  integrationId: string,
  agentIds: readonly (string | null)[],
): Promise<void> => {
  const before = (await listScopes(tx, integrationId)).map(({ agent_id }) => agent_id);
  for (const id of agentIds) if (!before.includes(id)) await createScope(tx, actor, integrationId, id);
  for (const id of before) if (!agentIds.includes(id)) await deleteScope(tx, actor, integrationId, id);
};
