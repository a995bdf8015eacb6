import { setTimeout as sleep } from 'node:timers/promises';
import type { Services } from '../feature.ts';
import type { LlmConfigurations } from '../llm-configurations/index.ts';
import { createModel } from './model/index.ts';
import { ModelError, type Usage } from './step.ts';

interface Question {
  system: string;
  user: string[];
  /** JSON Schema of the reply. */
  schema: Record<string, unknown>;
  signal: AbortSignal;
}

/** How often a call is made that fails in a way that may pass, and the wait before the next, in milliseconds. */
const mostCalls = 3;
const waitMs = 1_000;

/**
 * Makes a function that asks a model for JSON, without tools and outside any run. Resolves to a failure if the model
 * cannot be asked; rejects when the signal is aborted.
 */
export const createAskForJson =
  ({ egress }: Pick<Services, 'egress'>, llms: Pick<LlmConfigurations, 'resolve'>) =>
  async (
    llmId: string | null,
    { system, user, schema, signal }: Question,
  ): Promise<{ text: string; usage: Usage } | { failure: { code: string; message: string } }> => {
    const llm = await llms.resolve(llmId).catch(() => null);
    if (!llm)
      return { failure: { code: 'model_unavailable', message: 'There is no such LLM configuration.' } };
    const model = createModel(llm, { fetch: egress.fetch });
    for (let call = 1; ; call++) {
      try {
        const { text, usage } = await model.step({
          messages: [
            { role: 'system', text: system },
            ...user.map((text) => ({ role: 'user' as const, text })),
          ],
          tools: [],
          output: schema,
          signal,
          maxOutputTokens: null,
          cacheKey: null,
        });
        return { text, usage };
      } catch (error) {
        if (!(error instanceof ModelError)) throw error;
        if (!error.retryable || call === mostCalls) {
          return { failure: { code: error.code, message: error.message } };
        }
        await sleep(Math.min(error.retryAfterMs ?? waitMs * call, 20_000), undefined, { signal });
      }
    }
  };
