import type { Services } from '../feature.ts';
import type { ProbeLlm } from '../llm-configurations/index.ts';
import { createModel } from './model.ts';
import { ModelError } from './step.ts';

const probeWithinMs = 10_000;

/** The test of an LLM configuration: asks its model for one short reply, within 10 s. */
export const createProbe =
  ({ egress }: Pick<Services, 'egress'>): ProbeLlm =>
  async (llm) => {
    const signal = AbortSignal.timeout(probeWithinMs);
    try {
      const messages = [{ role: 'user' as const, text: 'Answer with the one word: ready' }];
      const model = createModel(llm, egress.fetch);
      const { responseModel } = await model.step({ messages, tools: [], signal });
      return { ok: true, detail: `The model ${responseModel} replied.` };
    } catch (error) {
      if (signal.aborted) return { ok: false, detail: `No reply within ${probeWithinMs / 1_000} s.` };
      return {
        ok: false,
        detail: error instanceof ModelError ? error.message : 'The model could not be asked.',
      };
    }
  };
