import type { Form } from '../../api/index.ts';
import { common } from '../../text/en/common.ts';
import { dataConnections as words } from '../../text/en/data-connections.ts';
import {
  NumberField,
  optionsOf,
  SecretField,
  SecretTextarea,
  Select,
  Textarea,
  TextField,
} from '../../ui/index.ts';
import { type ConnectionValues, defaultPorts, type Engine, type TlsMode } from './values.ts';

const engines = optionsOf(words.engines);
const tlsModes = optionsOf(words.tlsModes);

/** Which secrets are stored of a connection that exists. */
interface Stored {
  password: boolean;
  client_key: boolean;
}

interface Props {
  form: Form<ConnectionValues>;
  stored: Stored;
  /** The stored password must be typed again. */
  moved: boolean;
}

const TlsFields = ({ form, stored }: Props) => (
  <>
    <Select
      {...form.field('tls')}
      onChange={(tls) => form.set({ tls: tls as TlsMode })}
      label={words.tls}
      hint={words.tlsHints[form.values.tls]}
      options={tlsModes}
    />
    {form.values.tls !== 'disable' && (
      <>
        <Textarea {...form.field('ca')} label={words.ca} hint={words.caHint} rows={2} mono />
        <Textarea
          {...form.field('client_certificate')}
          label={words.client_certificate}
          hint={words.clientCertificateHint}
          rows={2}
          mono
        />
        <SecretTextarea
          {...form.field('client_key')}
          set={stored.client_key}
          label={words.client_key}
          hint={words.clientKeyHint}
        />
      </>
    )}
  </>
);

const ServerFields = (props: Props & { engine: keyof typeof defaultPorts }) => {
  const { form, stored, moved, engine } = props;
  return (
    <>
      <TextField {...form.field('host')} label={words.host} required />
      <NumberField
        {...form.field('port')}
        label={words.port}
        hint={words.portHint(defaultPorts[engine])}
        min={1}
        max={65_535}
        step={1}
      />
      <TextField {...form.field('database')} label={words.database} required />
      <TextField {...form.field('username')} label={words.username} hint={words.usernameHint} required />
      <SecretField
        {...form.field('password')}
        label={words.password}
        set={stored.password && !moved}
        hint={stored.password && moved ? words.passwordAgain : words.passwordHint}
        required={stored.password && moved}
      />
      <TlsFields {...props} />
    </>
  );
};

/** The fields of a data connection: those that all have, and those of its engine. `fixed`: the engine stays. */
export const ConnectionFields = ({ fixed = false, ...props }: Props & { fixed?: boolean }) => {
  const { form } = props;
  const { engine } = form.values;
  return (
    <>
      {!fixed && (
        <Select
          {...form.field('engine')}
          onChange={(engine) => form.set({ engine: engine as Engine })}
          label={words.engine}
          hint={words.engineHints[engine]}
          options={engines}
        />
      )}
      <TextField {...form.field('name')} label={common.name} required />
      {engine === 'sqlite' ? (
        <TextField {...form.field('path')} label={words.path} hint={words.pathHint} mono required />
      ) : (
        <ServerFields {...props} engine={engine} />
      )}
      <Textarea {...form.field('description')} label={words.description} rows={2} />
      <Textarea {...form.field('tags')} label={words.tags} hint={words.tagsHint} rows={2} />
    </>
  );
};
