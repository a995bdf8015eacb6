import { audit } from '../../audit/index.ts';
import type { Tx } from '../../database/index.ts';
import type { Actor } from '../../lib/principal.ts';
import type { AgentHooks } from '../agents.ts';
import type { Agent } from '../store.ts';
import { findCheck, updateEnded } from './check-store.ts';

/**
 * Cancels the check of the locked agent, and its experiments, if one has not ended. What moves the pointer of an agent does
 * so: the verdict would be on another published version.
 */
export const cancelCheck = async (
  tx: Tx,
  actor: Actor,
  hooks: Pick<AgentHooks, 'gatekeeper' | 'ended'>,
  agent: Pick<Agent, 'id' | 'name'>,
  reason: string | null = null,
): Promise<void> => {
  const check = await findCheck(tx, agent.id);
  if (!check) return;
  await updateEnded(tx, check.id, 'cancelled', reason);
  await hooks.gatekeeper().cancel(tx, actor, check.figures.experiment_ids);
  await hooks.ended(tx, check.id, 'cancelled');
  await audit(tx, actor, 'agent.publish', agent.id, {
    name: agent.name,
    state: 'cancelled',
    version: check.version,
    publication_id: check.id,
  });
};
