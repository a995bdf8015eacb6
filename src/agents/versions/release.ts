import { json, type Tx } from '../../database/index.ts';
import { ApiError } from '../../lib/errors.ts';
import type { Actor } from '../../lib/principal.ts';
import type { Agent, AgentChanges, agents } from '../store.ts';
import { changedContent, changesTo, unversionedChanges } from './content.ts';
import { freeze, normalizeContent, recordPublication } from './store.ts';

/**
 * The effect of a change of an agent on its versions: the fields and columns that are written, and whether it
 * publishes.
 */
interface Release {
  changes: AgentChanges;
  columns: Partial<Parameters<typeof agents.update>[3]>;
  isPublished: boolean;
}

/** Throws 412 with `canary` while one runs. */
export const checkNoCanary = ({ canary }: Agent): void => {
  if (!canary) return;
  throw new ApiError(
    'precondition_failed',
    `A canary of version ${canary.version} runs. Promote or abort it first.`,
    { canary },
  );
};

/** Decides on the locked agent. Throws 412 if content would be published while a canary runs. */
export const releaseOf = async (
  tx: Tx,
  { principal }: Actor,
  agent: Agent,
  changes: AgentChanges,
): Promise<Release> => {
  const release = changes.release ?? agent.release;
  const { content, isPublished } = await normalizeContent(
    tx,
    agent.id,
    changedContent(agent.draft ?? agent.content, changes),
  );
  if (isPublished)
    return { changes: unversionedChanges(changes), columns: { draft: null }, isPublished: false };
  if (release === 'manual') {
    return {
      changes: unversionedChanges(changes),
      columns: { draft: json(content) },
      isPublished: false,
    };
  }
  checkNoCanary(agent);
  const version = await freeze(tx, agent.id, content, principal);
  return {
    changes: changesTo(content, changes),
    columns: {
      ...(await recordPublication(tx, agent, version, { kind: 'automatic' }, principal)),
      draft: null,
    },
    isPublished: true,
  };
};
