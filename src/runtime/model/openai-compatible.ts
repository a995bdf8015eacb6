import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { type CreateProvider, type LlmOf, revealed } from './provider.ts';

/** Any endpoint that speaks OpenAI's chat completions. */
export const openAiCompatible: CreateProvider<LlmOf<'openai_compatible'>> = (llm, model, fetch, call) => ({
  model: createOpenAICompatible({
    name: 'openai-compatible',
    baseURL: llm.base_url,
    headers: {
      ...(llm.apiKey ? { authorization: `Bearer ${llm.apiKey.reveal()}` } : {}),
      ...revealed(llm.headers),
    },
    // Without it a stream has no usage.
    includeUsage: true,
    supportsStructuredOutputs: call.output === 'json_schema',
    fetch,
  }).chatModel(model),
});
