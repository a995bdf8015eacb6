import type { Form } from '../../api/index.ts';
import { common } from '../../text/en/common.ts';
import { llmConfigurations as words } from '../../text/en/llm-configurations.ts';
import { Checkbox, optionsOf, SecretField, Select, StoredSecretMap, TextField } from '../../ui/index.ts';
import { LimitFields } from './LimitFields.tsx';
import { byDeployment, fieldIn, type LlmValues } from './values.ts';

const kinds = optionsOf(words.kinds);
const apis = optionsOf(words.apis);
const credentialKinds = optionsOf(words.credentialKinds);

/** What is stored of a configuration that exists: which secrets, and the names of its headers. */
export interface Stored {
  api_key: boolean;
  secret_access_key: boolean;
  session_token: boolean;
  headers: readonly string[];
}

export const nothingStored: Stored = {
  api_key: false,
  secret_access_key: false,
  session_token: false,
  headers: [],
};

interface Props {
  form: Form<LlmValues>;
  stored: Stored;
}

const BedrockFields = ({ form, stored }: Props) => {
  const byKey = form.values.credentials === 'api_key';
  const secret = (name: 'api_key' | 'secret_access_key' | 'session_token', hint?: string) => (
    <SecretField
      {...form.field(name)}
      label={words[name]}
      set={stored[name]}
      hint={hint}
      required={hint === undefined}
    />
  );
  return (
    <>
      <TextField {...form.field('region')} label={words.region} hint={words.regionHint} required />
      <Select
        {...form.field('credentials')}
        onChange={(credentials) => form.set({ credentials: credentials as LlmValues['credentials'] })}
        label={words.credentials}
        options={credentialKinds}
      />
      {byKey ? (
        secret('api_key')
      ) : (
        <>
          <TextField {...form.field('access_key_id')} label={words.access_key_id} required mono />
          {secret('secret_access_key')}
          {secret('session_token', words.sessionTokenHint)}
        </>
      )}
    </>
  );
};

/** The fields that only OpenAI and Azure have. */
const OpenAiFields = ({ form }: Props) => {
  const has = (name: Parameters<typeof fieldIn>[1]) => fieldIn(form.values.kind, name) !== null;
  return (
    <>
      {has('api') && !byDeployment(form.values) && (
        <Select
          {...form.field('api')}
          onChange={(api) => form.set({ api: api ?? 'responses' })}
          label={words.api}
          hint={words.apiHint}
          options={apis}
        />
      )}
      {has('organization') && <TextField {...form.field('organization')} label={words.organization} />}
      {has('project') && <TextField {...form.field('project')} label={words.project} />}
      {has('api_version') && (
        <TextField {...form.field('api_version')} label={words.api_version} hint={words.apiVersionHint} />
      )}
      {has('deployment_urls') && (
        <Checkbox {...form.field('deployment_urls')} label={words.deployment_urls} />
      )}
    </>
  );
};

/** The fields of an LLM configuration: those of its kind, and those that all have. `fixed`: the kind stays. */
export const LlmFields = ({ fixed = false, ...props }: Props & { fixed?: boolean }) => {
  const { form, stored } = props;
  const { kind } = form.values;
  const url = fieldIn(kind, 'base_url');
  const key = fieldIn(kind, 'api_key');
  return (
    <>
      {!fixed && (
        <Select
          {...form.field('kind')}
          onChange={(chosen) => {
            const next = chosen as LlmValues['kind'];
            // Another kind has keys of its own, and the mock needs no name of a model.
            const model = next === 'mock' && form.values.model === '' ? 'mock' : form.values.model;
            form.set({ kind: next, model, api_key: '', headers: [] });
          }}
          label={words.kind}
          hint={words.kindHints[kind]}
          options={kinds}
        />
      )}
      <TextField {...form.field('name')} label={common.name} required />
      <TextField {...form.field('model')} label={words.model} hint={words.modelHints[kind]} required />
      {url && (
        <TextField
          {...form.field('base_url')}
          label={words.base_url}
          hint={words.baseUrlHints[kind]}
          type="url"
          required={url === 'required'}
        />
      )}
      {kind === 'bedrock' ? (
        <BedrockFields {...props} />
      ) : (
        key && (
          <SecretField
            {...form.field('api_key')}
            label={words.api_key}
            set={stored.api_key}
            hint={key === 'optional' ? words.apiKeyOptional : undefined}
            required={key === 'required'}
          />
        )
      )}
      <OpenAiFields {...props} />
      {fieldIn(kind, 'headers') && (
        <StoredSecretMap
          {...form.field('headers')}
          names={stored.headers}
          label={words.headers}
          hint={words.headersHint}
        />
      )}
      <LimitFields form={form} />
    </>
  );
};
