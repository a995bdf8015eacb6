// The classes, because the package's main module reads OPENAI_BASE_URL when it is loaded.
import { OpenAIChatLanguageModel, OpenAIResponsesLanguageModel } from '@ai-sdk/openai/internal';
import { type CallOptions, type CreateProvider, type LlmOf, type Provider, revealed } from './provider.ts';

/** Families whose models the SDK knows, with what each of them takes. */
const knownFamily = /^(?:gpt-|o)\d/;

const openAiModel = (
  {
    api,
    ...config
  }: {
    name: 'openai' | 'azure';
    api: 'responses' | 'chat_completions';
    url: (path: string) => string;
    headers: Record<string, string>;
    fetch: typeof globalThis.fetch;
  },
  model: string,
  { cacheKey, reasoning }: CallOptions,
): Provider => {
  const { name, url, headers, fetch } = config;
  const settings = { url: ({ path }: { path: string }) => url(path), headers: () => headers, fetch };
  const shared = {
    // A model with a name of its own reasons if it is asked to.
    ...(reasoning !== null && reasoning !== 'none' && !knownFamily.test(model) && { forceReasoning: true }),
    ...(cacheKey !== null && { promptCacheKey: cacheKey }),
  };
  if (api === 'chat_completions') {
    return {
      model: new OpenAIChatLanguageModel(model, { ...settings, provider: `${name}.chat` }),
      options: { providerOptions: { [name]: shared } },
    };
  }
  return {
    model: new OpenAIResponsesLanguageModel(model, { ...settings, provider: `${name}.responses` }),
    options: {
      providerOptions: {
        [name]: {
          ...shared,
          // The provider keeps nothing: the reasoning comes encrypted, and is sent back with the next step.
          store: false,
          include: ['reasoning.encrypted_content'],
          reasoningSummary: null,
        },
      },
    },
  };
};

export const openAi: CreateProvider<LlmOf<'openai'>> = (llm, model, fetch, call) =>
  openAiModel(
    {
      name: 'openai',
      api: llm.api,
      url: (path) => `${llm.base_url}${path}`,
      headers: {
        authorization: `Bearer ${llm.apiKey.reveal()}`,
        ...(llm.organization === null ? {} : { 'openai-organization': llm.organization }),
        ...(llm.project === null ? {} : { 'openai-project': llm.project }),
        ...revealed(llm.headers),
      },
      fetch,
    },
    model,
    call,
  );

/** The address of a request, the same for any host: a proxy in front of Azure gets what Azure gets. */
const azureUrl = (
  { base_url, deployment_urls, api_version }: LlmOf<'azure'>,
  model: string,
  path: string,
) => {
  const base = base_url.replace(/\/openai\/v1$/i, '/openai');
  const version = `api-version=${encodeURIComponent(api_version)}`;
  const prefix = deployment_urls ? `deployments/${encodeURIComponent(model)}` : 'v1';
  return `${base}/${prefix}${path}?${version}`;
};

export const azure: CreateProvider<LlmOf<'azure'>> = (llm, model, fetch, call) =>
  openAiModel(
    {
      name: 'azure',
      api: llm.api,
      url: (path) => azureUrl(llm, model, path),
      headers: { 'api-key': llm.apiKey.reveal(), ...revealed(llm.headers) },
      fetch,
    },
    model,
    call,
  );
