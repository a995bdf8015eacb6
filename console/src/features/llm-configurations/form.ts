import { llmConfigurations as kinds } from '../../api/kinds.gen.ts';
import type { UsedLlmConfiguration } from '../../api/types.gen.ts';
import { describeForm } from '../../resource/describe-form.ts';
import { choice, flag, numeric, optionalChoice, secret, secretMap, text } from '../../resource/fields.tsx';
import { common } from '../../text/en/common.ts';
import { llmConfigurations as words } from '../../text/en/llm-configurations.ts';
import type { SecretEntry } from '../../ui/index.ts';

type Texts =
  | 'name'
  | 'model'
  | 'base_url'
  | 'region'
  | 'access_key_id'
  | 'organization'
  | 'project'
  | 'api_version'
  | 'price_as';
type Secrets = 'api_key' | 'secret_access_key' | 'session_token';
type Numbers = 'max_output_tokens' | 'context_tokens' | 'timeout_seconds' | 'temperature';
type Flags = 'deployment_urls' | 'streaming' | 'prompt_caching';

interface LlmValues
  extends Record<Texts, string>,
    Record<Secrets, string | null>,
    Record<Numbers, number | null>,
    Record<Flags, boolean> {
  kind: UsedLlmConfiguration['kind'];
  credentials: keyof typeof words.credentialKinds;
  api: keyof typeof words.apis;
  headers: SecretEntry[];
  reasoning_effort: string | null;
}

/** Bedrock takes an access key or an API key. The other one is removed. */
const byAccessKey = ({ kind, credentials }: LlmValues): boolean =>
  kind === 'bedrock' && credentials === 'access_key';
/** The addresses of Azure name the deployment: they have one protocol, and no version of the name v1. */
const byDeployment = ({ kind, deployment_urls }: LlmValues): boolean => kind === 'azure' && deployment_urls;

const { context_tokens, timeout_seconds } = kinds.openai.defaults;

export const llmForm = describeForm<
  LlmValues,
  UsedLlmConfiguration,
  'createLlmConfiguration',
  'updateLlmConfiguration'
>(
  {
    words,
    kinds,
    kindOf: ({ kind }) => kind,
    paths: { credentials: null },
    rows: [
      ['max_output_tokens', 'context_tokens'],
      ['timeout_seconds', 'temperature'],
    ],
  },
  {
    kind: choice('openai_compatible', words.kinds, {
      fixed: true,
      hint: ({ kind }) => words.kindHints[kind],
      // Another kind has keys of its own, and the mock needs no name of a model.
      also: (kind, { model }) => ({
        model: kind === 'mock' && model === '' ? 'mock' : model,
        api_key: '',
        headers: [],
      }),
    }),
    name: text({ label: common.name, required: true }),
    model: text({ hint: ({ kind }) => words.modelHints[kind], required: true }),
    base_url: text({ hint: ({ kind }) => words.baseUrlHints[kind], type: 'url' }),
    region: text({ hint: words.regionHint }),
    credentials: choice('api_key', words.credentialKinds, {
      when: ({ kind }) => kind === 'bedrock',
      read: (read) => (read('access_key_id') ? 'access_key' : 'api_key'),
    }),
    access_key_id: text({ required: true, chosen: byAccessKey, mono: true }),
    secret_access_key: secret({ required: true, chosen: byAccessKey }),
    session_token: secret({ hint: words.sessionTokenHint, chosen: byAccessKey }),
    api_key: secret({
      hint: ({ kind, api_key }) =>
        kind === 'openai_compatible' && api_key !== null ? words.apiKeyOptional : undefined,
      required: ({ kind }) => kind !== 'openai_compatible',
      chosen: (values) => !byAccessKey(values),
    }),
    api: choice('responses', words.apis, {
      hint: words.apiHint,
      chosen: (values) => !byDeployment(values),
    }),
    organization: text(),
    project: text(),
    api_version: text({
      hint: words.apiVersionHint,
      send: (version, values) =>
        version === '' || (byDeployment(values) && version === 'v1') ? null : version,
    }),
    deployment_urls: flag(false),
    // Nothing is sent for the mock, so its headers are not asked for.
    headers: secretMap('header_names', { hint: words.headersHint, when: ({ kind }) => kind !== 'mock' }),
    max_output_tokens: numeric({ heading: words.limits, hint: words.maxOutputHint, min: 1 }),
    context_tokens: numeric({ first: context_tokens, hint: words.contextHint, min: 1_000 }),
    timeout_seconds: numeric({
      first: timeout_seconds,
      hint: words.timeoutHint,
      unit: words.seconds,
      min: 1,
      max: 600,
    }),
    temperature: numeric({ hint: words.temperatureHint, min: 0, max: 2, step: 0.1 }),
    reasoning_effort: optionalChoice(words.efforts, { hint: words.effortHint }),
    streaming: flag(true),
    prompt_caching: flag(true),
    price_as: text({ hint: words.priceAsHint, mono: true }),
  },
);
