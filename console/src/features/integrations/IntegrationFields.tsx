import type { Form } from '../../api/index.ts';
import { integrations as words } from '../../text/en/integrations.ts';
import { Checkbox, optionsOf, SecretField, SecretMap, Select, TextField } from '../../ui/index.ts';
import type { IntegrationValues, Provider } from './values.ts';

const providers = optionsOf(words.providers);
const traceUis = optionsOf(words.traceUis);

interface Props {
  form: Form<IntegrationValues>;
  /** Whether the credentials of the form's provider are stored. */
  stored: boolean;
}

const DataSource = ({ form }: Pick<Props, 'form'>) => (
  <TextField {...form.field('data_source')} label={words.data_source} hint={words.dataSourceHint} />
);

const TraceUi = ({ form }: Props) => (
  <>
    <TextField
      {...form.field('trace_view_url')}
      label={words.trace_view_url}
      hint={words.traceViewHint}
      type="url"
    />
    <Select {...form.field('trace_ui_type')} label={words.trace_ui_type} options={traceUis} clearable />
    {form.values.trace_ui_type === 'dashboard_ui' && <DataSource form={form} />}
  </>
);

const ProviderFields = (props: Props) => {
  const { form, stored } = props;
  const text = (name: 'dashboard_instance_id' | 'project_name' | 'username', label: string) => (
    <TextField {...form.field(name)} label={label} required />
  );
  const secret = (name: 'api_token' | 'api_key' | 'password', label: string) => (
    <SecretField {...form.field(name)} label={label} set={stored} required />
  );
  const additionalHeaders = (
    <SecretMap {...form.field('additional_headers')} label={words.additional_headers} />
  );
  switch (form.values.provider) {
    case 'hosted_dashboard':
      return (
        <>
          {text('dashboard_instance_id', words.dashboard_instance_id)}
          {secret('api_token', words.api_token)}
          {additionalHeaders}
          <TextField {...form.field('stack_name')} label={words.stack_name} hint={words.stackHint} />
          <DataSource form={form} />
        </>
      );
    case 'llm_tracing':
      return (
        <>
          {text('project_name', words.project_name)}
          {secret('api_key', words.api_key)}
          <TextField
            {...form.field('project_header')}
            label={words.project_header}
            hint={words.projectHeaderHint}
          />
          {additionalHeaders}
        </>
      );
    case 'otlp_basic_auth':
      return (
        <>
          {text('username', words.username)}
          {secret('password', words.password)}
          {additionalHeaders}
          <TraceUi {...props} />
        </>
      );
    case 'otlp_custom_headers':
      return (
        <>
          <SecretMap {...form.field('headers')} label={words.headers} />
          <TraceUi {...props} />
        </>
      );
  }
};

/** The fields of an integration: those of its provider, and those that all have. */
export const IntegrationFields = (props: Props) => {
  const { form } = props;
  return (
    <>
      <Select
        {...form.field('provider')}
        onChange={(provider) =>
          // Another provider has credentials of its own.
          form.set({
            provider: provider as Provider,
            api_token: '',
            api_key: '',
            password: '',
            headers: [],
            additional_headers: [],
          })
        }
        label={words.provider}
        options={providers}
      />
      <TextField {...form.field('url')} label={words.url} hint={words.urlHint} type="url" required />
      <ProviderFields {...props} />
      <SecretMap
        {...form.field('resource_attributes')}
        label={words.resource_attributes}
        hint={words.resourceAttributesHint}
        plain
      />
      <TextField {...form.field('description')} label={words.description} hint={words.descriptionHint} />
      <Checkbox {...form.field('debug')} label={words.debug} />
    </>
  );
};
