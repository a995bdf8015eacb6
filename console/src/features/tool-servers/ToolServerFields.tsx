import type { Form } from '../../api/index.ts';
import { common } from '../../text/en/common.ts';
import { toolServers as words } from '../../text/en/tool-servers.ts';
import {
  Checkbox,
  FieldRow,
  NumberField,
  optionsOf,
  SecretField,
  Select,
  StoredSecretMap,
  Textarea,
  TextField,
} from '../../ui/index.ts';
import type { Policy, ToolServerValues } from './values.ts';

const transports = optionsOf(words.transports);
const policies = optionsOf(words.policies, words.policyHints);

/** What is stored of a server that exists: the names of its headers and variables, and whether a client secret is. */
export interface Stored {
  headers: readonly string[];
  env: readonly string[];
  client_secret: boolean;
}

export const nothingStored: Stored = { headers: [], env: [], client_secret: false };

interface Props {
  form: Form<ToolServerValues>;
  stored: Stored;
}

const OAuthFields = ({ form, stored }: Props) => (
  <>
    <TextField {...form.field('client_id')} label={words.client_id} required />
    <SecretField
      {...form.field('client_secret')}
      label={words.client_secret}
      set={stored.client_secret}
      required
    />
    <TextField {...form.field('issuer')} label={words.issuer} hint={words.issuerHint} type="url" required />
    <TextField {...form.field('scope')} label={words.scope} />
  </>
);

const HttpFields = (props: Props) => {
  const { form, stored } = props;
  return (
    <>
      <TextField {...form.field('url')} label={words.url} hint={words.urlHint} type="url" required />
      <StoredSecretMap
        {...form.field('headers')}
        names={stored.headers}
        label={words.headers}
        hint={words.headersHint}
      />
      <Checkbox {...form.field('oauth')} label={words.oauth} />
      {form.values.oauth && <OAuthFields {...props} />}
    </>
  );
};

const ProcessFields = ({ form, stored }: Props) => (
  <>
    <TextField {...form.field('command')} label={words.command} hint={words.commandHint} required mono />
    <Textarea {...form.field('args')} label={words.args} hint={words.argsHint} mono />
    <StoredSecretMap {...form.field('env')} names={stored.env} label={words.env} hint={words.envHint} />
    <TextField {...form.field('cwd')} label={words.cwd} hint={words.cwdHint} mono />
  </>
);

/** The fields of a tool server: those of its transport, and those that all have. `fixed`: it exists already. */
export const ToolServerFields = ({ fixed = false, ...props }: Props & { fixed?: boolean }) => {
  const { form } = props;
  return (
    <>
      <TextField {...form.field('name')} label={common.name} required />
      {!fixed && (
        <>
          <TextField {...form.field('prefix')} label={words.prefix} hint={words.prefixHint} mono />
          <Select
            {...form.field('transport')}
            onChange={(transport) => form.set({ transport: transport === 'stdio' ? 'stdio' : 'http' })}
            label={words.transport}
            hint={words.transportHint}
            options={transports}
          />
        </>
      )}
      {form.values.transport === 'http' ? <HttpFields {...props} /> : <ProcessFields {...props} />}
      <Select
        {...form.field('default_policy')}
        onChange={(policy) => form.set({ default_policy: policy as Policy })}
        label={words.default_policy}
        hint={words.defaultPolicyHint}
        options={policies}
      />
      <FieldRow>
        <NumberField
          {...form.field('call_timeout_seconds')}
          label={words.call_timeout_seconds}
          hint={words.timeoutHint}
          unit={words.seconds}
          min={1}
          max={600}
        />
        <NumberField
          {...form.field('max_concurrency')}
          label={words.max_concurrency}
          hint={words.concurrencyHint}
          min={1}
          max={100}
        />
      </FieldRow>
      <Checkbox {...form.field('enabled')} label={words.enabled} />
    </>
  );
};
