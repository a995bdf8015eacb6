import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock';
import { thinkingBudget } from './anthropic.ts';
import { type CreateProvider, type LlmOf, revealed } from './provider.ts';

/** Families on Bedrock that refuse a request with cache points. */
const withoutCache =
  /(^|\.|\/)(meta|mistral|cohere|ai21|deepseek|openai|qwen|writer|twelvelabs|stability|google|nvidia|minimax|moonshot|zai|amazon\.titan)[.-]/;

/** Every value is given, or the provider takes it from the environment: an empty key means that requests are signed. */
export const bedrock: CreateProvider<LlmOf<'bedrock'>> = (llm, model, fetch, call) => {
  const { credentials } = llm;
  const thinking = thinkingBudget(model, call);
  const keys =
    'apiKey' in credentials
      ? { apiKey: credentials.apiKey.reveal(), accessKeyId: '', secretAccessKey: '' }
      : {
          apiKey: '',
          accessKeyId: credentials.accessKeyId,
          secretAccessKey: credentials.secretAccessKey.reveal(),
          ...(credentials.sessionToken ? { sessionToken: credentials.sessionToken.reveal() } : {}),
        };
  return {
    model: createAmazonBedrock({
      region: llm.region,
      baseURL: llm.base_url,
      ...keys,
      headers: revealed(llm.headers),
      fetch,
    })(model),
    ...(!withoutCache.test(model) && { cacheMarks: { amazonBedrock: { cachePoint: { type: 'default' } } } }),
    ...(thinking && {
      options: {
        reasoning: null,
        maxOutputTokens: thinking.rest,
        ...(thinking.budget !== null && {
          providerOptions: {
            amazonBedrock: { reasoningConfig: { type: 'enabled', budgetTokens: thinking.budget } },
          },
        }),
      },
    }),
  };
};
