import { z } from 'zod';
import type { Executor } from '../database/index.ts';
import { id, timestamp } from '../http/index.ts';
import { type Agent, agents } from './store.ts';
import { countArms } from './versions/canary-store.ts';
import { withDraft } from './versions/content.ts';
import { versionFields } from './versions/schemas.ts';

export const publicAgent = z
  .object({ id, ...agents.shown, ...versionFields, created_at: timestamp, updated_at: timestamp })
  .meta({ id: 'PublicAgent' });

/** Returns the agent as clients see it: its draft, and what runs. */
export const toResponse = async (executor: Executor, agent: Agent) => ({
  ...withDraft(agent),
  has_changes: agent.draft !== null,
  canary: agent.canary && { ...agent.canary, ...(await countArms(executor, agent, agent.canary)) },
});
