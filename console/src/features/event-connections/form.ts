import type { PublicEventConnection } from '../../api/types.gen.ts';
import { describeForm } from '../../resource/describe-form.ts';
import { area, choice, lines, secret, secretArea, text } from '../../resource/fields.tsx';
import { common } from '../../text/en/common.ts';
import { eventConnections as words } from '../../text/en/event-connections.ts';

interface ConnectionValues
  extends Record<
    'name' | 'servers' | 'brokers' | 'username' | 'sasl_username' | 'ca' | 'client_certificate',
    string
  > {
  kind: PublicEventConnection['kind'];
  auth: keyof typeof words.auths;
  password: string | null;
  token: string | null;
  credentials: string | null;
  sasl: keyof typeof words.sasls;
  sasl_password: string | null;
  tls: keyof typeof words.tlsModes;
  client_key: string | null;
}

/** The servers of a connection: `nats` has servers, `kafka` brokers. */
export const serversOf = ({ settings }: PublicEventConnection): readonly string[] =>
  'servers' in settings ? settings.servers : settings.brokers;

const isNats = ({ kind }: ConnectionValues): boolean => kind === 'nats';
const isKafka = ({ kind }: ConnectionValues): boolean => kind === 'kafka';
const isEncrypted = ({ tls }: ConnectionValues): boolean => tls !== 'disable';
const authenticates = (by: ConnectionValues['auth']) => (values: ConnectionValues) => values.auth === by;
const usesSasl = ({ sasl }: ConnectionValues): boolean => sasl !== 'none';

export const connectionForm = describeForm<
  ConnectionValues,
  PublicEventConnection,
  'createEventConnection',
  'updateEventConnection'
>(
  {
    words,
    paths: {
      servers: 'settings.servers',
      brokers: 'settings.brokers',
      auth: null,
      username: 'settings.username',
      password: 'settings.password',
      token: 'settings.token',
      credentials: 'settings.credentials',
      sasl: 'settings.sasl',
      sasl_username: null,
      sasl_password: null,
      tls: 'settings.tls.mode',
      ca: 'settings.tls.ca',
      client_certificate: 'settings.tls.client_certificate',
      client_key: 'settings.tls.client_key',
    },
  },
  {
    kind: choice('nats', words.kinds, { fixed: true }),
    name: text({ label: common.name, required: true }),
    servers: lines({ hint: words.serversHint, mono: true, when: isNats, required: true }),
    brokers: lines({ hint: words.brokersHint, mono: true, when: isKafka, required: true }),
    auth: choice('none', words.auths, {
      when: isNats,
      read: (read) => {
        if (read('settings.token_set')) return 'token';
        if (read('settings.credentials_set')) return 'credentials';
        return read('settings.username') ? 'password' : 'none';
      },
    }),
    username: text({ when: isNats, chosen: authenticates('password') }),
    password: secret({ when: isNats, chosen: authenticates('password') }),
    token: secret({ when: isNats, chosen: authenticates('token') }),
    credentials: secretArea({
      hint: words.credentialsHint,
      when: isNats,
      chosen: authenticates('credentials'),
    }),
    sasl: choice('none', words.sasls, {
      when: isKafka,
      read: (read) => (read('settings.sasl.mechanism') as ConnectionValues['sasl'] | undefined) ?? 'none',
      // A password that is stored and stays is left out.
      send: (mechanism, { sasl_username: username, sasl_password: password }) =>
        mechanism === 'none' ? null : { mechanism, username, ...(password === null ? {} : { password }) },
    }),
    sasl_username: text({
      when: isKafka,
      shown: usesSasl,
      read: (read) => (read('settings.sasl.username') as string | undefined) ?? '',
    }),
    sasl_password: secret({
      when: isKafka,
      shown: usesSasl,
      read: (read) => (read('settings.sasl.password_set') ? null : ''),
    }),
    tls: choice('verify_full', words.tlsModes, { hint: ({ tls }) => words.tlsHints[tls] }),
    ca: area({ hint: words.caHint, shown: isEncrypted, mono: true }),
    client_certificate: area({ hint: words.clientCertificateHint, shown: isEncrypted, mono: true }),
    client_key: secretArea({ hint: words.clientKeyHint, shown: isEncrypted }),
  },
);
