import { lockAgent } from '../agents/index.ts';
import { audit } from '../audit/index.ts';
import type { Tx } from '../database/index.ts';
import { notFound } from '../lib/errors.ts';
import { isId } from '../lib/ids.ts';
import type { Actor } from '../lib/principal.ts';
import { deleteScopeRow, findScope, insertScope, type ScopeRow } from './store.ts';

/** A scope in a request. `agent_id` is only used for the scope `agent`. */
export interface ScopeName {
  scope: 'global' | 'agent';
  agent_id?: string;
}

const agentOf = ({ scope, agent_id }: ScopeName): string | null => (scope === 'agent' ? agent_id! : null);

/** `agentId` null: the global scope. */
export const scopeName = (agentId: string | null): ScopeName =>
  agentId === null ? { scope: 'global' } : { scope: 'agent', agent_id: agentId };

/** Creates a scope, or returns the existing one. `integrationId` is locked. Throws 404 for an unknown agent. */
export const createScope = async (
  tx: Tx,
  actor: Actor,
  integrationId: string,
  name: ScopeName,
): Promise<ScopeRow> => {
  const agentId = agentOf(name);
  if (agentId !== null) await lockAgent(tx, agentId, 'share');
  const existing = await findScope(tx, integrationId, agentId);
  if (existing) return existing;
  const row = await insertScope(tx, integrationId, agentId);
  await audit(
    tx,
    actor,
    'integration_scope.create',
    integrationId,
    { scope: row.scope, agent_id: row.agent_id },
    'integration',
  );
  return row;
};

/** Deletes a scope. `integrationId` is locked. Throws 404 if there is no such scope. */
export const deleteScope = async (
  tx: Tx,
  actor: Actor,
  integrationId: string,
  name: ScopeName,
): Promise<void> => {
  const agentId = agentOf(name);
  if ((agentId !== null && !isId(agentId)) || !(await deleteScopeRow(tx, integrationId, agentId))) {
    throw notFound('scope');
  }
  await audit(
    tx,
    actor,
    'integration_scope.delete',
    integrationId,
    { scope: name.scope, agent_id: agentId },
    'integration',
  );
};
