import { type Agents, createAgents } from '../../src/agents/index.ts';
import { createBudgets } from '../../src/budgets/index.ts';
import { type Callbacks, createCallbacks } from '../../src/callbacks/index.ts';
import { OpenStreams } from '../../src/event-streams/index.ts';
import type { Services } from '../../src/feature.ts';
import type { Models } from '../../src/llm-configurations/index.ts';
import { createWorkItems, type WorkItems } from '../../src/work-items/index.ts';

/** Features of one database without the rest of the platform: nothing that agents use is there, and nothing is started. */
export interface TestFeatures {
  agents: Agents;
  callbacks: Callbacks;
  workItems: WorkItems;
}

const unused = { usedBy: () => {} };

export const testAgents = (services: Services, callbacks = createCallbacks(services)): Agents =>
  createAgents(services, { callbacks, llms: unused, toolServers: unused, semanticDataModels: unused });

export const testFeatures = (services: Services): TestFeatures => {
  const callbacks = createCallbacks(services);
  const agents = testAgents(services, callbacks);
  const observability = { traceLinks: async () => [] };
  const openStreams = new OpenStreams();
  return {
    agents,
    callbacks,
    workItems: createWorkItems(services, {
      agents,
      budgets: createBudgets(services),
      callbacks,
      observability,
      openStreams,
    }),
  };
};

/** Models that are not asked; a test of one succeeds. */
export const silentModels: Models = {
  probe: async () => ({ ok: true, detail: '', steps: [] }),
  open: () => {
    throw new Error('no model is asked');
  },
};
