import { GoogleLanguageModel } from '@ai-sdk/google/internal';
import { generateId } from 'ai';
import { shares } from './anthropic.ts';
import { type CallOptions, type CreateProvider, type LlmOf, revealed } from './provider.ts';

/** The least budget for thinking that a model takes besides 0, and whether it takes 0. */
const leastBudget = (model: string): { least: number; mayBeNone: boolean } => {
  if (model.includes('2.5-pro')) return { least: 128, mayBeNone: false };
  return { least: model.includes('flash-lite') ? 512 : 1, mayBeNone: true };
};

/**
 * The budget for thinking instead of `budget`, so that something is left of `maxOutputTokens`: here the thoughts count as
 * output. Null if the model takes none that is small enough: it then thinks as much as it likes.
 */
const boundBudget = (
  budget: number,
  maxOutputTokens: number,
  model: string,
  reasoning: CallOptions['reasoning'],
): number | null => {
  const share = reasoning === null || reasoning === 'none' ? 0 : shares[reasoning];
  const bounded = Math.min(budget, Math.floor(maxOutputTokens * share));
  const { least, mayBeNone } = leastBudget(model);
  if (bounded >= least) return bounded;
  if (mayBeNone) return 0;
  return least < maxOutputTokens ? least : null;
};

/** `fetch` with a budget for thinking that leaves room for the reply. Newer models have levels instead of a budget. */
const withBoundBudget =
  (fetch: typeof globalThis.fetch, model: string, { reasoning }: CallOptions): typeof globalThis.fetch =>
  (input, init) => {
    if (reasoning === null || typeof init?.body !== 'string') return fetch(input, init);
    const body = JSON.parse(init.body);
    const { thinkingConfig, maxOutputTokens } = body.generationConfig ?? {};
    if (typeof thinkingConfig?.thinkingBudget !== 'number' || typeof maxOutputTokens !== 'number') {
      return fetch(input, init);
    }
    const { thinkingBudget, ...others } = thinkingConfig;
    const bound = boundBudget(thinkingBudget, maxOutputTokens, model, reasoning);
    body.generationConfig.thinkingConfig = bound === null ? others : { ...others, thinkingBudget: bound };
    return fetch(input, { ...init, body: JSON.stringify(body) });
  };

export const google: CreateProvider<LlmOf<'google'>> = (llm, model, fetch, call) => ({
  model: new GoogleLanguageModel(model, {
    provider: 'google.generative-ai',
    baseURL: llm.base_url,
    headers: () => ({ 'x-goog-api-key': llm.apiKey.reveal(), ...revealed(llm.headers) }),
    fetch: withBoundBudget(fetch, model, call),
    generateId,
    supportedUrls: () => ({}),
  }),
});
