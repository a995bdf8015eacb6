import type { Body } from '../../api/index.ts';
import { dataConnections } from '../../api/kinds.gen.ts';
import type {
  PublicDataConnection,
  ShownServerConfiguration,
  ShownSqliteConfiguration,
} from '../../api/types.gen.ts';

export type Engine = PublicDataConnection['engine'];
export type TlsMode = ShownServerConfiguration['tls']['mode'];

/** The values of the form. A secret is null while the stored one stays. */
export interface ConnectionValues {
  engine: Engine;
  name: string;
  description: string;
  /** One a line. */
  tags: string;
  host: string;
  port: number | null;
  database: string;
  username: string;
  password: string | null;
  tls: TlsMode;
  ca: string;
  client_certificate: string;
  client_key: string | null;
  path: string;
}

export const noValues: ConnectionValues = {
  engine: 'postgres',
  name: '',
  description: '',
  tags: '',
  host: '',
  port: null,
  database: '',
  username: '',
  password: '',
  tls: 'verify_full',
  ca: '',
  client_certificate: '',
  client_key: '',
  path: '',
};

const { postgres, mysql } = dataConnections;
export const defaultPorts = { postgres: postgres.defaults.port, mysql: mysql.defaults.port } as const;

const isFile = (
  configuration: PublicDataConnection['configuration'],
): configuration is ShownSqliteConfiguration => 'path' in configuration;

/** Where the data are, in one line: `db.example.com/shop`, or the path of the file. */
export const placeOf = ({ engine, configuration }: PublicDataConnection): string => {
  if (isFile(configuration)) return configuration.path;
  const { host, port, database } = configuration;
  const usual = engine !== 'sqlite' && port === defaultPorts[engine];
  return `${host}${usual ? '' : `:${port}`}/${database}`;
};

export const toValues = (connection: PublicDataConnection): ConnectionValues => {
  const { configuration } = connection;
  const base: ConnectionValues = {
    ...noValues,
    engine: connection.engine,
    name: connection.name,
    description: connection.description ?? '',
    tags: connection.tags.join('\n'),
  };
  if (isFile(configuration)) return { ...base, path: configuration.path };
  const { host, port, database, username, password_set, tls } = configuration;
  return {
    ...base,
    host,
    port,
    database,
    username,
    password: password_set ? null : '',
    tls: tls.mode,
    ca: tls.ca ?? '',
    client_certificate: tls.client_certificate ?? '',
    client_key: tls.client_key_set ? null : '',
  };
};

/** The values that the API never shows. */
export const secrets = ['password', 'client_key'] as const;

/** Null for what is empty, undefined for a stored secret that stays. */
const orNull = (value: string | null): string | null | undefined =>
  value === null ? undefined : value === '' ? null : value;

const tlsOf = (values: ConnectionValues) => {
  const { tls: mode, ca, client_certificate, client_key } = values;
  return {
    mode,
    ca: orNull(ca),
    client_certificate: orNull(client_certificate),
    client_key: orNull(client_key),
  };
};

const serverFields = ({ engine, host, port, database, username, password }: ConnectionValues) => ({
  host,
  port: port ?? (engine === 'mysql' ? defaultPorts.mysql : defaultPorts.postgres),
  database,
  username,
  password: orNull(password),
});

const commonFields = ({ name, description, tags }: ConnectionValues) => ({
  name,
  description: description === '' ? null : description,
  tags: tags.split('\n').filter((line) => line.trim() !== ''),
});

type Fields = Record<string, unknown>;

/** The fields of `given` that have a value. */
const present = (given: Fields): Fields =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null && value !== undefined));

/** The fields of `after` that differ from `before`. */
const changed = (after: Fields, before: Fields): Fields =>
  Object.fromEntries(
    Object.entries(after).filter(
      ([name, value]) => value !== undefined && JSON.stringify(value) !== JSON.stringify(before[name]),
    ),
  );

/** The body of a test before there is a connection. */
export const toTestBody = (values: ConnectionValues) =>
  ({
    engine: values.engine,
    configuration:
      values.engine === 'sqlite'
        ? { path: values.path }
        : present({ ...serverFields(values), tls: present(tlsOf(values)) }),
    // Which fields there are depends on the engine: the API says which are missing.
  }) as Body<'testDataConnectionSettings'>;

/** The body that creates a connection. */
export const toBody = (values: ConnectionValues) =>
  ({ ...present(commonFields(values)), ...toTestBody(values) }) as Body<'createDataConnection'>;

const configurationChanges = (values: ConnectionValues, before: ConnectionValues): Fields => {
  if (values.engine === 'sqlite') return changed({ path: values.path }, { path: before.path });
  const tls = changed(tlsOf(values), tlsOf(before));
  return {
    ...changed(serverFields(values), serverFields(before)),
    ...(Object.keys(tls).length > 0 && { tls }),
  };
};

/** The body that makes `values` of `before`: what differs. */
export const toChanges = (
  values: ConnectionValues,
  before: ConnectionValues,
): Body<'updateDataConnection'> => {
  const configuration = configurationChanges(values, before);
  return {
    ...changed(commonFields(values), commonFields(before)),
    ...(Object.keys(configuration).length > 0 && { configuration }),
  };
};

/** Whether the stored password would go to another place, or over another way, than the one it was given for. */
export const isMoved = (values: ConnectionValues, before: ConnectionValues): boolean => {
  const { database: _database, password: _password, ...moves } = configurationChanges(values, before);
  return values.engine !== 'sqlite' && Object.keys(moves).length > 0;
};

/** The field of a fault: those of `configuration` are fields of the form. */
export const fieldOf = (path: string): string =>
  path.replace(/^configuration\.(tls\.)?/, '').replace(/^mode$/, 'tls');
