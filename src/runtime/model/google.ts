import { GoogleLanguageModel } from '@ai-sdk/google/internal';
import { generateId } from 'ai';
import { type CreateProvider, type LlmOf, revealed } from './provider.ts';

export const google: CreateProvider<LlmOf<'google'>> = (llm, model, fetch) => ({
  model: new GoogleLanguageModel(model, {
    provider: 'google.generative-ai',
    baseURL: llm.base_url,
    headers: () => ({ 'x-goog-api-key': llm.apiKey.reveal(), ...revealed(llm.headers) }),
    fetch,
    generateId,
    supportedUrls: () => ({}),
  }),
});
