import { type Form, useOperation, usePermission } from '../../api/index.ts';
import { common } from '../../text/en/common.ts';
import { documentIntelligence as words } from '../../text/en/document-intelligence.ts';
import {
  optionsOf,
  permissionReason,
  SecretField,
  Select,
  StoredSecretMap,
  TextField,
} from '../../ui/index.ts';
import { type Provider, settingsOf, type Values } from './values.ts';

const providers = optionsOf(words.providers);
const ocrs = optionsOf(words.ocrs);

interface Props {
  form: Form<Values>;
  /** Which secrets are stored for the engine and the address of the form. */
  stored: { api_key: boolean; headers: readonly string[] };
  /** Secrets are stored, for another address. */
  moved: boolean;
}

const EngineFields = ({ form, stored, moved }: Props) => {
  const { provider } = form.values;
  const fields = settingsOf(provider);
  const needsKey = provider === 'azure';
  return (
    <>
      {fields.has('endpoint') && (
        <TextField
          {...form.field('endpoint')}
          label={words.endpoint}
          hint={words.endpointHint}
          type="url"
          required
        />
      )}
      {fields.has('url') && (
        <TextField
          {...form.field('url')}
          label={words.url}
          hint={provider === 'http' ? words.httpHint : words.doclingHint}
          type="url"
          required
        />
      )}
      {fields.has('api_key') && (
        <SecretField
          {...form.field('api_key')}
          label={words.api_key}
          set={stored.api_key}
          hint={moved ? words.keyAgain : needsKey ? '' : words.keyOptional}
          required={needsKey}
        />
      )}
      {fields.has('headers') && (
        <StoredSecretMap
          {...form.field('headers')}
          names={stored.headers}
          label={words.headers}
          hint={moved ? words.headersAgain : words.headersHint}
        />
      )}
    </>
  );
};

const ModelSelect = ({ form }: Pick<Props, 'form'>) => {
  const permission = usePermission('listLlmConfigurations');
  const got = useOperation(
    'listLlmConfigurations',
    {},
    { query: { limit: 100 }, enabled: permission.allowed },
  );
  const field = form.field('llm_id');
  return (
    <Select
      {...field}
      disabledReason={field.disabledReason ?? permissionReason(permission)}
      label={words.llm_id}
      hint={words.llmHint}
      clearable
      options={(got.data?.data ?? []).map(({ id, name, model }) => ({ value: id, label: name, note: model }))}
      nothing={got.loading ? common.loading : undefined}
    />
  );
};

/** The fields of the configuration: those of its engine, and those that all have. */
export const ReaderFields = (props: Props) => {
  const { form } = props;
  const { provider } = form.values;
  return (
    <>
      <Select
        {...form.field('provider')}
        onChange={(next) =>
          // Another engine has an address and credentials of its own.
          form.set({ provider: next as Provider, endpoint: '', url: '', api_key: '', headers: [] })
        }
        label={words.provider}
        hint={words.hints[provider]}
        options={providers}
      />
      <EngineFields {...props} />
      <ModelSelect form={form} />
      <Select
        {...form.field('ocr')}
        onChange={(ocr) => form.set({ ocr: ocr as Values['ocr'] })}
        label={words.ocr}
        hint={words.ocrHint}
        options={ocrs}
      />
      <TextField
        {...form.field('ocr_languages')}
        label={words.ocr_languages}
        hint={words.languagesHint}
        mono
      />
    </>
  );
};
