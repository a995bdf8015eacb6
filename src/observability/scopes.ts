import { lockAgent } from '../agents/index.ts';
import { audit } from '../audit/index.ts';
import type { Tx } from '../database/index.ts';
import { notFound } from '../lib/errors.ts';
import { isId } from '../lib/ids.ts';
import type { Caller } from './integrations.ts';
import { deleteScope, findScope, insertScope, type ScopeRow } from './store.ts';

/** A scope as it is named: `agent_id` counts for the scope `agent` alone. */
export interface ScopeName {
  scope: 'global' | 'agent';
  agent_id?: string;
}

const agentOf = ({ scope, agent_id }: ScopeName): string | null => (scope === 'agent' ? agent_id! : null);

/** Adds a scope, or answers the one that is there already. `integrationId` is locked. 404 for an unknown agent. */
export const addScope = async (
  tx: Tx,
  { principal, requestId }: Caller,
  integrationId: string,
  name: ScopeName,
): Promise<ScopeRow> => {
  const agentId = agentOf(name);
  if (agentId !== null) await lockAgent(tx, agentId, 'use');
  const present = await findScope(tx, integrationId, agentId);
  if (present) return present;
  const row = await insertScope(tx, integrationId, agentId);
  await audit(tx, principal, {
    action: 'integration_scope.create',
    targetType: 'integration',
    targetId: integrationId,
    details: { scope: row.scope, agent_id: row.agent_id },
    requestId,
  });
  return row;
};

/** Removes a scope; 404 where there is none. `integrationId` is locked. */
export const removeScope = async (
  tx: Tx,
  { principal, requestId }: Caller,
  integrationId: string,
  name: ScopeName,
): Promise<void> => {
  const agentId = agentOf(name);
  if ((agentId !== null && !isId(agentId)) || !(await deleteScope(tx, integrationId, agentId))) {
    throw notFound('scope');
  }
  await audit(tx, principal, {
    action: 'integration_scope.delete',
    targetType: 'integration',
    targetId: integrationId,
    details: { scope: name.scope, agent_id: agentId },
    requestId,
  });
};
