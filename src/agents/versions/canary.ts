import { audit } from '../../audit/index.ts';
import { type Database, databaseNow, type Tx } from '../../database/index.ts';
import type { FeatureLoop, Services } from '../../feature.ts';
import { ApiError, unprocessable } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { Loop } from '../../lib/loop.ts';
import { type Actor, roleAllows, systemActor } from '../../lib/principal.ts';
import { lockAgent } from '../agents.ts';
import { checkMayLoosen } from '../loosening.ts';
import { type Agent, type Canary, type Content, findLockedAgent } from '../store.ts';
import { countArms, listCanaries, updateCanary, updateEndedCanary } from './canary-store.ts';
import { hasPassed } from './check-store.ts';
import { withContent } from './content.ts';
import { checkNoCheck } from './publish.ts';
import { checkNoCanary } from './release.ts';
import { findVersion, freeze } from './store.ts';
import { checkNothingMissing, moveTo, type PublishHooks } from './versions.ts';

/** A canary: a share of what is claimed runs another version than the published one. */

interface NewCanary {
  version: number | 'draft';
  percent: number;
  /** Milliseconds since 1970. */
  until?: number | undefined;
  rollback_when?: Canary['rollback_when'] | undefined;
  /** Only admins have one: the version runs although no gate has passed it. */
  override_reason?: string | null | undefined;
}

const notRunning = (): ApiError =>
  new ApiError('precondition_failed', 'No canary of this agent runs.', { canary: null });

const contentOfVersion = async (
  tx: Tx,
  { principal }: Actor,
  agent: Agent,
  version: number | 'draft',
): Promise<{ version: number; content: Content }> => {
  if (version === 'draft') {
    const { draft, content } = agent;
    // Freezing would add a version: after a rollback the published one is not the newest.
    if (draft === null) return { version: agent.version, content };
    return { version: await freeze(tx, agent.id, draft, principal), content: draft };
  }
  const found = await findVersion(tx, agent.id, version);
  if (!found) throw unprocessable([{ path: 'version', message: 'is not a version of this agent' }]);
  return { version, content: found.content };
};

/** Throws 412 if the agent has a gate that has not passed the version. */
const checkPassed = async (tx: Tx, { id, gate }: Agent, version: number, what: string): Promise<void> => {
  if (!gate || (await hasPassed(tx, id, version))) return;
  throw new ApiError(
    'precondition_failed',
    `The gate has not passed version ${version}. Check it first (publish with \`check_only\`), or let an admin ${what}.`,
    { version },
  );
};

/** Starts a canary. Throws 403 if it loosens what the agent may do, 412 if it cannot run, 422 for an unknown version. */
export const startCanary = async (tx: Tx, actor: Actor, agent: Agent, wanted: NewCanary): Promise<Agent> => {
  checkNoCanary(agent);
  await checkNoCheck(tx, agent);
  const { version, content } = await contentOfVersion(tx, actor, agent, wanted.version);
  if (version === agent.version) {
    throw new ApiError('precondition_failed', `Version ${version} is the published one.`, { version });
  }
  const after = withContent(agent, content);
  if (after.execution !== agent.execution) {
    throw new ApiError(
      'precondition_failed',
      `Version ${version} is executed by ${after.execution === 'external' ? 'external workers' : 'the platform'}, unlike the published one. Publish it instead.`,
      { version },
    );
  }
  const { override_reason = null } = wanted;
  if (override_reason === null) {
    await checkPassed(tx, agent, version, 'start it with `override_reason`');
  }
  await checkNothingMissing(tx, after);
  await checkMayLoosen(tx, actor, agent, after);
  const canary: Canary = {
    id: newId(),
    version,
    percent: wanted.percent,
    until: wanted.until === undefined ? null : new Date(wanted.until).toISOString(),
    rollback_when: wanted.rollback_when ?? null,
    started_at: new Date(await databaseNow(tx)).toISOString(),
  };
  await updateCanary(tx, agent.id, canary, version);
  await audit(tx, actor, 'agent.canary_start', agent.id, {
    name: agent.name,
    version,
    percent: canary.percent,
    canary_id: canary.id,
    ...(override_reason === null ? {} : { override_reason }),
  });
  return lockAgent(tx, agent.id);
};

/** Publishes the version of the canary, and ends it. Throws 403 and 412. */
export const promoteCanary = async (
  tx: Tx,
  actor: Actor,
  hooks: PublishHooks,
  agent: Agent,
): Promise<Agent> => {
  const { canary } = agent;
  if (!canary) throw notRunning();
  const { version } = canary;
  if (!roleAllows(actor.principal.role, 'admin')) await checkPassed(tx, agent, version, 'promote it');
  const { content } = (await findVersion(tx, agent.id, version))!;
  await moveTo(tx, actor, hooks, agent, { version, content, draft: agent.draft }, { kind: 'promote' });
  await audit(tx, actor, 'agent.canary_promote', agent.id, {
    name: agent.name,
    version,
    from_version: agent.version,
    canary_id: canary.id,
  });
  return lockAgent(tx, agent.id);
};

/** Ends the canary of the locked agent. What is pinned keeps its version. */
const end = async (
  tx: Tx,
  actor: Actor,
  agent: Agent,
  canary: Canary,
  reason: 'asked' | 'until' | 'error_rate',
): Promise<void> => {
  await updateCanary(tx, agent.id, null, agent.latest_version);
  if (reason !== 'asked') await updateEndedCanary(tx, agent.id, canary.version, reason);
  await audit(tx, actor, 'agent.canary_abort', agent.id, {
    name: agent.name,
    version: canary.version,
    canary_id: canary.id,
    reason,
    arms: await countArms(tx, agent, canary),
  });
};

/** Aborts the canary. Throws 412 if none runs. */
export const abortCanary = async (tx: Tx, actor: Actor, agent: Agent): Promise<Agent> => {
  if (!agent.canary) throw notRunning();
  await end(tx, actor, agent, agent.canary, 'asked');
  return lockAgent(tx, agent.id);
};

/** Returns why the canary ends by itself now; null if it goes on. */
const endingOf = async (tx: Tx, agent: Agent, canary: Canary): Promise<'until' | 'error_rate' | null> => {
  const { until, rollback_when: limit } = canary;
  if (until !== null && Date.parse(until) <= (await databaseNow(tx))) return 'until';
  if (!limit) return null;
  const { finished, failed } = (await countArms(tx, agent, canary)).canary;
  return finished >= limit.min_finished && failed / finished > limit.error_rate ? 'error_rate' : null;
};

/** Ends the canaries that are over, each once, whichever replica sees it first. Resolves to how many there were. */
const endCanaries = async (db: Database): Promise<number> => {
  const ids = await db.run(listCanaries);
  for (const id of ids) {
    await db.tx(async (tx) => {
      const agent = await findLockedAgent(tx, id, 'update');
      const ending = agent?.canary ? await endingOf(tx, agent, agent.canary) : null;
      if (agent?.canary && ending) await end(tx, systemActor, agent, agent.canary, ending);
    });
  }
  return ids.length;
};

/** The interval, in milliseconds, between two checks whether canaries are over. */
const everyMs = 10_000;
/** The same while there is none. */
const idleEveryMs = 30_000;

/** Ends canaries in the background, on every replica with the role `scheduler`. */
export const canaryLoop = ({ db, log }: Pick<Services, 'db' | 'log'>): FeatureLoop => {
  const loop = new Loop({
    name: 'canaries',
    log,
    tick: async () => {
      return (await endCanaries(db)) > 0 ? everyMs : idleEveryMs;
    },
  });
  return {
    role: 'scheduler',
    start: () => void loop.start(),
    stop: () => loop.stop(),
    pass: () => loop.pass(),
  };
};
