import { audit } from '../../audit/index.ts';
import type { Tx } from '../../database/index.ts';
import { sha256 } from '../../lib/crypto.ts';
import { ApiError, unprocessable } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import type { Actor, Principal } from '../../lib/principal.ts';
import { rfc8785 } from '../../lib/rfc8785.ts';
import type { Gate } from '../gate.ts';
import { checkMayLoosen } from '../loosening.ts';
import type { Agent, Content } from '../store.ts';
import { findCheck, findVerdict, insertCheck, updateCheckToPublish, updateEnded } from './check-store.ts';
import { hashOf, shownContent, withContent } from './content.ts';
import { checkNoCanary } from './release.ts';
import { publicPublication } from './schemas.ts';
import { findPublication, freeze, type Publication, updateLatestVersion } from './store.ts';
import { auditedFigures, checkNothingMissing, moveTo, type PublishHooks } from './versions.ts';

/** Publishing a draft, with a gate and without one. */

interface PublishOptions {
  note?: string | null | undefined;
  check_only: boolean;
  override_reason?: string | null | undefined;
}

/** A version that is to be published. */
interface Candidate {
  agent: Agent;
  version: number;
  content: Content;
}

const who = ({ kind, id, name }: Principal) => ({ kind, id, name });

/** Returns 412 for a publication that did not publish, with the publication. */
export const refusalOf = (publication: Publication): ApiError => {
  const texts: Partial<Record<Publication['state'], string>> = {
    blocked: `The gate blocks version ${publication.version}: it is worse than the published one.`,
    inconclusive: `The gate could not decide on version ${publication.version}: too few cases or trials have a score.`,
    cancelled: `The check of version ${publication.version} was cancelled.`,
    checking: `Version ${publication.version} is being checked. Wait for its end, or cancel the check.`,
  };
  return new ApiError('precondition_failed', texts[publication.state]!, {
    publication: publicPublication.parse(publication),
  });
};

/** Throws 412 with `publication` while a check of the locked agent runs. */
export const checkNoCheck = async (tx: Tx, agent: Agent): Promise<void> => {
  const check = await findCheck(tx, agent.id);
  if (check) throw refusalOf((await findPublication(tx, agent.id, check.id))!);
};

const publishNow = async (
  tx: Tx,
  actor: Actor,
  hooks: PublishHooks,
  { agent, version, content }: Candidate,
  publication: Omit<Parameters<typeof moveTo>[5], 'kind'>,
): Promise<Publication> => {
  const { verdict, overridden, reason } = publication;
  const published = await moveTo(
    tx,
    actor,
    hooks,
    agent,
    { version, content, draft: null },
    { kind: 'publish', ...publication },
  );
  await audit(tx, actor, 'agent.publish', agent.id, {
    name: agent.name,
    state: 'published',
    version,
    from_version: agent.version,
    publication_id: published.id,
    ...(overridden ? { overridden, override_reason: reason } : {}),
    ...(verdict ? auditedFigures(verdict.gate) : {}),
  });
  return published;
};

/** Returns the key of a verdict. A check with the same key gets the same verdict. */
const keyOf = async (
  tx: Tx,
  hooks: PublishHooks,
  gate: Gate,
  { agent, version, content }: Candidate,
): Promise<string> => {
  const basis = await hooks.gatekeeper().readBasis(tx, { agent, gate, candidate: version });
  const hashes = {
    candidate: hashOf(shownContent(withContent(agent, content))),
    published: hashOf(shownContent(agent)),
  };
  return sha256(rfc8785({ ...hashes, gate, ...basis }));
};

/** Begins the check of a version, or applies the verdict that is known. */
const publishThroughGate = async (
  tx: Tx,
  actor: Actor,
  hooks: PublishHooks,
  gate: Gate,
  candidate: Candidate,
  { note = null, check_only }: PublishOptions,
): Promise<Publication> => {
  const { agent, version, content } = candidate;
  const find = async (id: string) => (await findPublication(tx, agent.id, id))!;
  const by = who(actor.principal);
  const open = await findCheck(tx, agent.id);
  if (open) {
    if (open.version !== version) throw refusalOf(await find(open.id));
    if (open.check_only && !check_only) await updateCheckToPublish(tx, open.id, { note, by });
    return find(open.id);
  }
  const after = withContent(agent, content);
  await checkNothingMissing(tx, after);
  await checkMayLoosen(tx, actor, agent, after);
  const key = await keyOf(tx, hooks, gate, candidate);
  const known = await findVerdict(tx, agent.id, key);
  if (known?.state === 'blocked' || (known?.state === 'passed' && check_only)) return find(known.id);
  if (known && !check_only) {
    return publishNow(tx, actor, hooks, candidate, { note, verdict: { gate: known.gate, key, rules: gate } });
  }
  await updateLatestVersion(tx, agent.id, version);
  const id = newId();
  const { figures, verdict } = known
    ? { figures: known.gate, verdict: 'passed' as const }
    : await hooks.gatekeeper().begin(tx, actor, { publicationId: id, agent, gate, candidate: version });
  const check = { id, agent_id: agent.id, from_version: agent.version, version, check_only, note, by };
  await insertCheck(tx, { ...check, rules: gate, key }, figures);
  if (verdict) {
    await updateEnded(tx, id, verdict, null);
    await hooks.ended(tx, id, verdict);
  }
  await audit(tx, actor, 'agent.publish', agent.id, {
    name: agent.name,
    state: verdict ?? 'checking',
    version,
    from_version: agent.version,
    publication_id: id,
    ...auditedFigures(figures),
  });
  return find(id);
};

/**
 * Publishes the draft of the locked agent, or begins the check of its gate: then the publication is `checking`, and goes on
 * without the caller. It is `blocked` or `inconclusive` at once if that is known. Without a draft, returns the last
 * publication and changes nothing. Throws 403, 412 and 422.
 */
export const publishDraft = async (
  tx: Tx,
  actor: Actor,
  hooks: PublishHooks,
  agent: Agent,
  options: PublishOptions,
): Promise<Publication> => {
  const { note, check_only, override_reason = null } = options;
  const { gate, draft } = agent;
  if (check_only && !gate) {
    throw unprocessable([{ path: 'check_only', message: 'requires a gate, which this agent does not have' }]);
  }
  if (check_only && override_reason !== null) {
    throw unprocessable([
      { path: 'override_reason', message: 'publishes at once, so `check_only` must be false' },
    ]);
  }
  if (draft === null) return (await findPublication(tx, agent.id, agent.publication_id))!;
  checkNoCanary(agent);
  const version = await freeze(tx, agent.id, draft, actor.principal);
  const candidate = { agent, version, content: draft };
  if (gate && override_reason === null) {
    return publishThroughGate(tx, actor, hooks, gate, candidate, options);
  }
  return publishNow(tx, actor, hooks, candidate, {
    note,
    reason: override_reason,
    overridden: gate !== null && override_reason !== null,
  });
};
