// The class, because the package's main module reads ANTHROPIC_BASE_URL when it is loaded.
import { AnthropicLanguageModel, getModelCapabilities } from '@ai-sdk/anthropic/internal';
import { generateId } from 'ai';
import { type CallOptions, type CreateProvider, type LlmOf, revealed } from './provider.ts';

/** The least budget for thinking that the API takes. */
const leastBudget = 1_024;
/** Parts of the limit of a reply that are for thinking, by effort. */
export const shares = { minimal: 0.1, low: 0.2, medium: 0.5, high: 0.8 };

/**
 * Older models have a budget for thinking, which the SDK adds to the limit of the reply. Returns the budget, and what is
 * left of `maxOutputTokens` for the rest; null if the model has no budget or the reply no limit.
 */
export const thinkingBudget = (
  model: string,
  { reasoning, maxOutputTokens }: CallOptions,
): { budget: number | null; rest: number } | null => {
  if (reasoning === null || reasoning === 'none' || maxOutputTokens === null) return null;
  if (!model.includes('claude-') || getModelCapabilities(model).supportsAdaptiveThinking) return null;
  const budget = Math.max(leastBudget, Math.floor(maxOutputTokens * shares[reasoning]));
  // Too little is left to think.
  if (budget >= maxOutputTokens) return { budget: null, rest: maxOutputTokens };
  return { budget, rest: maxOutputTokens - budget };
};

export const anthropic: CreateProvider<LlmOf<'anthropic'>> = (llm, model, fetch, call) => {
  const thinking = thinkingBudget(model, call);
  return {
    model: new AnthropicLanguageModel(model, {
      provider: 'anthropic.messages',
      baseURL: llm.base_url,
      headers: () => ({
        'anthropic-version': '2023-06-01',
        'x-api-key': llm.apiKey.reveal(),
        ...revealed(llm.headers),
      }),
      fetch,
      generateId,
      supportedUrls: () => ({}),
    }),
    cacheMarks: { anthropic: { cacheControl: { type: 'ephemeral' } } },
    options: {
      providerOptions: {
        anthropic: {
          // Arguments come when they are whole and valid.
          toolStreaming: false,
          ...(thinking?.budget != null && { thinking: { type: 'enabled', budgetTokens: thinking.budget } }),
        },
      },
      ...(thinking && { reasoning: null, maxOutputTokens: thinking.rest }),
    },
  };
};
