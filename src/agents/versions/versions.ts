import { audit } from '../../audit/index.ts';
import type { Tx } from '../../database/index.ts';
import { ApiError, unprocessable } from '../../lib/errors.ts';
import type { Actor, Principal } from '../../lib/principal.ts';
import { rfc8785 } from '../../lib/rfc8785.ts';
import { type AgentHooks, lockReferences } from '../agents.ts';
import { checkMayLoosen } from '../loosening.ts';
import { type Agent, type Content, contentColumns } from '../store.ts';
import { cancelCheck } from './cancel-check.ts';
import { shownContent, withContent } from './content.ts';
import type { GateFigures } from './gatekeeper.ts';
import {
  findPublication,
  findVersion,
  freeze,
  type NewPublication,
  type Publication,
  recordPublication,
  updateDraft,
  updateLatestVersion,
  updatePublished,
} from './store.ts';

/**
 * Returns what the content of the agent names and what was deleted. What exists is locked for share. A policy for a tool
 * server that the agent does not use has no effect, and such a server may be deleted: it is not missing.
 */
export const listMissing = async (tx: Tx, agent: Agent): Promise<{ field: string; id: string }[]> => {
  const used = new Set(agent.tool_server_ids.map((id) => id.toLowerCase()));
  const tool_policies = agent.tool_policies.filter(({ tool_server_id }) => used.has(tool_server_id));
  const missing = await lockReferences(tx, { ...shownContent(agent), tool_policies });
  return missing.map(({ path, text }) => ({ field: path.split(/[.[]/)[0]!, id: text }));
};

/** Throws 412 with `missing` if the content of the agent names what was deleted. */
export const checkNothingMissing = async (tx: Tx, agent: Agent): Promise<void> => {
  const missing = await listMissing(tx, agent);
  if (missing.length === 0) return;
  throw new ApiError(
    'precondition_failed',
    'It names what was deleted. Change the draft, and publish that.',
    { missing },
  );
};

/** Returns figures of a gate for the audit log: without names of cases. */
export const auditedFigures = ({ failing_cases, ...figures }: GateFigures): object => ({
  ...figures,
  failing_cases: failing_cases.length,
});

/** The work of others when a pointer moves. */
export type PublishHooks = Pick<AgentHooks, 'onSettings' | 'gatekeeper' | 'ended'>;

/**
 * Moves the pointer of the locked agent to a version, ends its canary, and cancels a check of another version. Throws 403
 * and 412.
 */
export const moveTo = async (
  tx: Tx,
  actor: Actor,
  hooks: PublishHooks,
  agent: Agent,
  { version, content, draft }: { version: number; content: Content; draft: Content | null },
  publication: NewPublication,
): Promise<Publication> => {
  const after = withContent(agent, content);
  await checkNothingMissing(tx, after);
  await checkMayLoosen(tx, actor, agent, after);
  if (publication.checked === undefined) await cancelCheck(tx, actor, hooks, agent);
  const pointer = await recordPublication(tx, agent, version, publication, actor.principal);
  const differs = draft !== null && rfc8785(draft) !== rfc8785(content);
  await updatePublished(tx, agent.id, contentColumns, { content, pointer, draft: differs ? draft : null });
  await hooks.onSettings(tx);
  await hooks.ended(tx, pointer.publication_id, 'published');
  return (await findPublication(tx, agent.id, pointer.publication_id))!;
};

/**
 * Moves the pointer back to a version that was published before, and ends a canary. The draft becomes that version with
 * `release: automatic`, and stays otherwise. Throws 403, 412 and 422.
 */
export const rollBack = async (
  tx: Tx,
  actor: Actor,
  hooks: PublishHooks,
  agent: Agent,
  { version, reason }: { version: number; reason?: string | null | undefined },
): Promise<Publication> => {
  const target = await findVersion(tx, agent.id, version);
  if (!target) throw unprocessable([{ path: 'version', message: 'is not a version of this agent' }]);
  if (version === agent.version) return (await findPublication(tx, agent.id, agent.publication_id))!;
  if (target.published_at === null) {
    throw new ApiError(
      'precondition_failed',
      `Version ${version} was never published. Publish a draft with its content instead.`,
      { version },
    );
  }
  const { content } = target;
  const kept = agent.release === 'automatic' ? null : (agent.draft ?? agent.content);
  const publication = await moveTo(
    tx,
    actor,
    hooks,
    agent,
    { version, content, draft: kept },
    { kind: 'rollback', reason },
  );
  await audit(tx, actor, 'agent.rollback', agent.id, {
    name: agent.name,
    version,
    from_version: agent.version,
    publication_id: publication.id,
    ...(agent.canary ? { canary_version: agent.canary.version } : {}),
  });
  return publication;
};

/** Makes the draft of the locked agent the published version again. */
export const discardDraft = async (tx: Tx, actor: Actor, agent: Agent): Promise<void> => {
  if (agent.draft === null) return;
  await updateDraft(tx, agent.id, null);
  await audit(tx, actor, 'agent.update', agent.id, { name: agent.name, changed: ['draft'] });
};

/**
 * Returns the number of the version that the reference names for an experiment: a draft is frozen, which publishes
 * nothing. Null if there is no such version. The agent is locked.
 */
export const freezeReference = async (
  tx: Tx,
  agent: Agent,
  reference: 'draft' | 'published' | number,
  principal: Principal,
): Promise<number | null> => {
  if (typeof reference === 'number') return (await findVersion(tx, agent.id, reference)) ? reference : null;
  if (reference === 'published' || agent.draft === null) return agent.version;
  const version = await freeze(tx, agent.id, agent.draft, principal);
  await updateLatestVersion(tx, agent.id, version);
  return version;
};
