import type { Body } from '../../api/index.ts';
import { llmConfigurations as kinds } from '../../api/kinds.gen.ts';
import type { UsedLlmConfiguration } from '../../api/types.gen.ts';
import type { SecretEntry } from '../../ui/index.ts';

export type Kind = UsedLlmConfiguration['kind'];

/** The values of the form. A secret is null while the stored one stays, and so are all headers together. */
export interface LlmValues {
  kind: Kind;
  name: string;
  model: string;
  base_url: string;
  api_key: string | null;
  organization: string;
  project: string;
  api: string;
  api_version: string;
  deployment_urls: boolean;
  region: string;
  /** Which credentials of Bedrock. */
  credentials: 'api_key' | 'access_key';
  access_key_id: string;
  secret_access_key: string | null;
  session_token: string | null;
  headers: SecretEntry[] | null;
  max_output_tokens: number | null;
  temperature: number | null;
  reasoning_effort: string | null;
  context_tokens: number | null;
  timeout_seconds: number | null;
  streaming: boolean;
  prompt_caching: boolean;
}

export const noValues: LlmValues = {
  kind: 'openai_compatible',
  name: '',
  model: '',
  base_url: '',
  api_key: '',
  organization: '',
  project: '',
  api: 'responses',
  api_version: '',
  deployment_urls: false,
  region: '',
  credentials: 'api_key',
  access_key_id: '',
  secret_access_key: '',
  session_token: '',
  headers: [],
  max_output_tokens: null,
  temperature: null,
  reasoning_effort: null,
  context_tokens: 128_000,
  timeout_seconds: 120,
  streaming: true,
  prompt_caching: true,
};

const limits = [
  'max_output_tokens',
  'temperature',
  'reasoning_effort',
  'context_tokens',
  'timeout_seconds',
  'streaming',
  'prompt_caching',
] as const;

type Kinds = typeof kinds;
/** The fields of the kinds, by the document of the API. */
type Field = { [K in Kind]: Kinds[K]['required'][number] | Kinds[K]['optional'][number] }[Kind];

const inAll: readonly string[] = ['name', 'model', ...limits];

/** Whether the kind has the field, and whether it must have a value; null for what all kinds have. */
export const fieldIn = (kind: Kind, name: Field): 'required' | 'optional' | null => {
  const { required, optional }: { required: readonly string[]; optional: readonly string[] } = kinds[kind];
  // Nothing is sent for the mock, so its headers are not asked for.
  if (inAll.includes(name) || kind === 'mock') return null;
  return required.includes(name) ? 'required' : optional.includes(name) ? 'optional' : null;
};

export const toValues = (llm: UsedLlmConfiguration): LlmValues => ({
  kind: llm.kind,
  name: llm.name,
  model: llm.model,
  base_url: llm.base_url ?? '',
  api_key: llm.api_key_set ? null : '',
  organization: llm.organization ?? '',
  project: llm.project ?? '',
  api: llm.api ?? 'responses',
  api_version: llm.api_version ?? '',
  deployment_urls: llm.deployment_urls ?? false,
  region: llm.region ?? '',
  credentials: llm.access_key_id ? 'access_key' : 'api_key',
  access_key_id: llm.access_key_id ?? '',
  secret_access_key: llm.secret_access_key_set ? null : '',
  session_token: llm.session_token_set ? null : '',
  headers: llm.header_names?.length ? null : [],
  max_output_tokens: llm.max_output_tokens ?? null,
  temperature: llm.temperature ?? null,
  reasoning_effort: llm.reasoning_effort ?? null,
  context_tokens: llm.context_tokens ?? null,
  timeout_seconds: llm.timeout_seconds ?? null,
  streaming: llm.streaming ?? true,
  prompt_caching: llm.prompt_caching ?? true,
});

/** The values that the API never shows. */
export const secrets = ['api_key', 'secret_access_key', 'session_token', 'headers'] as const;

/** The credentials of Bedrock that are not chosen. */
const unchosen: Record<LlmValues['credentials'], readonly Field[]> = {
  api_key: ['access_key_id', 'secret_access_key', 'session_token'],
  access_key: ['api_key'],
};

/** Whether the addresses of Azure name the deployment. */
export const byDeployment = ({ kind, deployment_urls }: LlmValues): boolean =>
  kind === 'azure' && deployment_urls;

/** What the API takes for a value: null for what is empty and may be, undefined for a stored secret that stays. */
const sent = (values: LlmValues, name: Field): unknown => {
  const { kind, credentials } = values;
  if (kind === 'bedrock') {
    if (unchosen[credentials].includes(name)) return null;
    // One of the pair must not be cleared: the API says that it is missing.
    if (name !== 'session_token' && /key/.test(name)) return values[name] ?? undefined;
  }
  // Addresses by deployment have one protocol, and no version of this name.
  if (byDeployment(values) && (name === 'api' || (name === 'api_version' && values.api_version === 'v1'))) {
    return null;
  }
  const value = values[name];
  if (name === 'headers') {
    if (value === null) return undefined;
    const entries = (value as SecretEntry[]).filter((entry) => entry.name !== '');
    return entries.length === 0
      ? null
      : Object.fromEntries(entries.map((entry) => [entry.name, entry.value]));
  }
  if (value === null) return limits.includes(name as (typeof limits)[number]) ? null : undefined;
  return value === '' && fieldIn(kind, name) === 'optional' ? null : value;
};

const namesOf = (kind: Kind): Field[] => {
  const { required, optional } = kinds[kind];
  return [...required, ...optional].filter((name) => inAll.includes(name) || fieldIn(kind, name) !== null);
};

/** The body that creates a configuration. */
export const toBody = (values: LlmValues): Body<'createLlmConfiguration'> => {
  const given = namesOf(values.kind)
    .map((name) => [name, sent(values, name)])
    .filter(([, value]) => value !== null && value !== undefined);
  // Which fields there are depends on the kind: the API says which are missing.
  return { kind: values.kind, ...Object.fromEntries(given) } as Body<'createLlmConfiguration'>;
};

/** The body that makes `values` of `before`: only what differs, so that what has its default keeps it. */
export const toChanges = (values: LlmValues, before: LlmValues): Body<'updateLlmConfiguration'> =>
  Object.fromEntries(
    namesOf(values.kind)
      .map((name) => [name, sent(values, name)] as const)
      .filter(([name, value]) => value !== undefined && !same(value, sent(before, name))),
  );

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
