import { dataConnections as kinds } from '../../api/kinds.gen.ts';
import type { PublicDataConnection, ShownServerConfiguration } from '../../api/types.gen.ts';
import { describeForm } from '../../resource/describe-form.ts';
import { area, choice, lines, numeric, secret, secretArea, text } from '../../resource/fields.tsx';
import { common } from '../../text/en/common.ts';
import { dataConnections as words } from '../../text/en/data-connections.ts';

export type Engine = PublicDataConnection['engine'];

interface ConnectionValues
  extends Record<
    'name' | 'path' | 'host' | 'database' | 'username' | 'ca' | 'client_certificate' | 'description' | 'tags',
    string
  > {
  engine: Engine;
  port: number | null;
  password: string | null;
  tls: ShownServerConfiguration['tls']['mode'];
  client_key: string | null;
}

const defaultPort = (engine: Engine): number =>
  (engine === 'mysql' ? kinds.mysql : kinds.postgres).defaults.port;

/** Returns the location of the data in one line: `db.example.com/shop`, or the path of the file. */
export const placeOf = ({ engine, configuration }: PublicDataConnection): string => {
  if ('path' in configuration) return configuration.path;
  const { host, port, database } = configuration;
  return `${host}${port === defaultPort(engine) ? '' : `:${port}`}/${database}`;
};

const isEncrypted = ({ tls }: ConnectionValues): boolean => tls !== 'disable';

export const connectionForm = describeForm<
  ConnectionValues,
  PublicDataConnection,
  'createDataConnection',
  'updateDataConnection',
  'configuration'
>(
  {
    words,
    kinds,
    kindOf: ({ engine }) => engine,
    inside: 'configuration',
    paths: {
      tls: 'configuration.tls.mode',
      ca: 'configuration.tls.ca',
      client_certificate: 'configuration.tls.client_certificate',
      client_key: 'configuration.tls.client_key',
    },
  },
  {
    engine: choice('postgres', words.engines, {
      hint: ({ engine }) => words.engineHints[engine],
      fixed: true,
    }),
    name: text({ label: common.name, required: true }),
    path: text({ hint: words.pathHint, mono: true }),
    host: text(),
    port: numeric({
      hint: ({ engine }) => words.portHint(defaultPort(engine)),
      send: (port, { engine }) => port ?? defaultPort(engine),
      min: 1,
      max: 65_535,
      step: 1,
    }),
    database: text(),
    username: text({ hint: words.usernameHint }),
    password: secret({ hint: ({ password }) => (password === null ? undefined : words.passwordHint) }),
    tls: choice('verify_full', words.tlsModes, {
      hint: ({ tls }) => words.tlsHints[tls],
    }),
    ca: area({ hint: words.caHint, shown: isEncrypted, mono: true }),
    client_certificate: area({
      hint: words.clientCertificateHint,
      shown: isEncrypted,
      mono: true,
    }),
    client_key: secretArea({
      hint: words.clientKeyHint,
      shown: isEncrypted,
    }),
    description: area(),
    tags: lines({ hint: words.tagsHint, rows: 2 }),
  },
);
