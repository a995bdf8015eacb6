import type { Agent } from '../agents/index.ts';
import type { ProbeLlm } from '../llm-configurations/index.ts';
import { createModel } from './model.ts';
import { ModelError } from './step.ts';
import { builtInTools, type Tool } from './tools.ts';
import { createWorker, type Worker, type WorkerDeps } from './worker.ts';

export type { Tool } from './tools.ts';

export interface Runtime extends Worker {
  /** Asks a model for one short answer, within 10 s. */
  probe: ProbeLlm;
}

const probeWithinMs = 10_000;

/** The agent runtime: the worker, and the test of an LLM configuration, which both speak to models. */
export const createRuntime = (
  deps: Omit<WorkerDeps, 'toolsOf'> & { toolsOf?: (agent: Agent) => Promise<readonly Tool[]> },
): Runtime => ({
  ...createWorker({ ...deps, toolsOf: deps.toolsOf ?? (async () => builtInTools) }),
  probe: async (llm) => {
    const signal = AbortSignal.timeout(probeWithinMs);
    try {
      const messages = [{ role: 'user' as const, text: 'Answer with the one word: ready' }];
      const { responseModel } = await createModel(llm, deps.egress.fetch).step({
        messages,
        tools: [],
        signal,
      });
      return { ok: true, detail: `The model ${responseModel} answered.` };
    } catch (error) {
      if (signal.aborted) return { ok: false, detail: `No answer within ${probeWithinMs / 1_000} s.` };
      return {
        ok: false,
        detail: error instanceof ModelError ? error.message : 'The model could not be asked.',
      };
    }
  },
});
