import { audit } from '../../audit/index.ts';
import type { Tx } from '../../database/index.ts';
import { systemActor } from '../../lib/principal.ts';
import type { AgentHooks } from '../agents.ts';
import { type Agent, findLockedAgent } from '../store.ts';
import { type Check, findCheck, updateEnded, updateFigures } from './check-store.ts';
import { withContent } from './content.ts';
import type { GateFigures, Verdict } from './gatekeeper.ts';
import { findVersion } from './store.ts';
import { auditedFigures, listMissing, moveTo } from './versions.ts';

/** Ends checks by their verdicts. Callers hold no lock before `lockCheck`. */

/** Locks the agent of a check. Undefined if the check has ended, or has gone on, since it was read. */
export const lockCheck = async (
  tx: Tx,
  { id, agent_id, figures }: Check,
): Promise<{ agent: Agent; check: Check } | undefined> => {
  const agent = await findLockedAgent(tx, agent_id, 'update');
  const check = agent && (await findCheck(tx, agent_id));
  if (!agent || check?.id !== id) return undefined;
  const isSame = check.figures.experiment_ids.length === figures.experiment_ids.length;
  return isSame ? { agent, check } : undefined;
};

/**
 * Ends the locked check. A version that passed is published, unless that was not asked for, or is not possible any more: what
 * it names was deleted, or another version was published by a replica of an earlier release.
 */
export const endCheck = async (
  tx: Tx,
  hooks: Pick<AgentHooks, 'gatekeeper' | 'ended' | 'onSettings'>,
  { agent, check }: { agent: Agent; check: Check },
  verdict: Verdict,
  figures: GateFigures,
  reason: string | null = null,
): Promise<void> => {
  const { id, version } = check;
  await updateFigures(tx, id, figures);
  const end = async (state: Verdict | 'cancelled' | 'published', why: string | null) => {
    if (state !== 'published') {
      await updateEnded(tx, id, state, why);
      await hooks.ended(tx, id, state);
    }
    await audit(tx, systemActor, 'agent.publish', agent.id, {
      name: agent.name,
      state,
      version,
      from_version: check.from_version,
      publication_id: id,
      requested_by: check.by?.id ?? null,
      ...(why === null ? {} : { reason: why }),
      ...auditedFigures(figures),
    });
  };
  if (verdict !== 'passed' || check.check_only) return end(verdict, reason);
  if (agent.version !== check.from_version || agent.canary) {
    return end('cancelled', 'Another version was published during the check.');
  }
  const { content } = (await findVersion(tx, agent.id, version))!;
  const missing = await listMissing(tx, withContent(agent, content));
  if (missing.length > 0) {
    const fields = [...new Set(missing.map(({ field }) => field))].join(', ');
    return end('inconclusive', `The version names what was deleted during the check: ${fields}.`);
  }
  await moveTo(
    tx,
    systemActor,
    hooks,
    agent,
    // A draft that was changed or discarded during the check stays so.
    { version, content, draft: agent.draft ?? agent.content },
    { kind: 'publish', checked: id },
  );
  await end('published', null);
};
