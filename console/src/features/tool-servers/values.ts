import type { Body } from '../../api/index.ts';
import type { UsedToolServer } from '../../api/types.gen.ts';
import type { SecretEntry } from '../../ui/index.ts';

export type Policy = UsedToolServer['default_policy'];

/** The values of the form. A secret is null while the stored one stays, and so are all headers or variables together. */
export interface ToolServerValues {
  transport: 'http' | 'stdio';
  name: string;
  prefix: string;
  url: string;
  headers: SecretEntry[] | null;
  oauth: boolean;
  client_id: string;
  client_secret: string | null;
  issuer: string;
  scope: string;
  command: string;
  /** One a line. */
  args: string;
  env: SecretEntry[] | null;
  cwd: string;
  enabled: boolean;
  default_policy: Policy;
  call_timeout_seconds: number | null;
  max_concurrency: number | null;
}

export const noValues: ToolServerValues = {
  transport: 'http',
  name: '',
  prefix: '',
  url: '',
  headers: [],
  oauth: false,
  client_id: '',
  client_secret: '',
  issuer: '',
  scope: '',
  command: '',
  args: '',
  env: [],
  cwd: '',
  enabled: true,
  default_policy: 'require_approval',
  call_timeout_seconds: 60,
  max_concurrency: 8,
};

export const toValues = (server: UsedToolServer): ToolServerValues => ({
  transport: server.transport,
  name: server.name,
  prefix: server.prefix,
  url: server.url ?? '',
  headers: server.header_names.length > 0 ? null : [],
  oauth: server.oauth !== null,
  client_id: server.oauth?.client_id ?? '',
  client_secret: server.oauth ? null : '',
  issuer: server.oauth?.issuer ?? '',
  scope: server.oauth?.scope ?? '',
  command: server.command ?? '',
  args: server.args.join('\n'),
  env: server.env_names.length > 0 ? null : [],
  cwd: server.cwd ?? '',
  enabled: server.enabled,
  default_policy: server.default_policy,
  call_timeout_seconds: server.call_timeout_seconds,
  max_concurrency: server.max_concurrency,
});

/** The map as the API takes it: null if there is none, undefined for a stored one that stays. */
const mapOf = (entries: SecretEntry[] | null): Record<string, string | null> | null | undefined => {
  if (entries === null) return undefined;
  const named = entries.filter(({ name }) => name !== '');
  return named.length === 0 ? null : Object.fromEntries(named.map(({ name, value }) => [name, value]));
};

const oauthOf = ({ oauth, client_id, client_secret, issuer, scope }: ToolServerValues) =>
  oauth
    ? { client_id, issuer, scope: scope || null, ...(client_secret === null ? {} : { client_secret }) }
    : null;

const transportFields = (values: ToolServerValues) =>
  values.transport === 'http'
    ? { url: values.url, headers: mapOf(values.headers), oauth: oauthOf(values) }
    : {
        command: values.command,
        args: values.args.split('\n').filter((line) => line !== ''),
        env: mapOf(values.env),
        cwd: values.cwd || null,
      };

const commonFields = (values: ToolServerValues) => ({
  name: values.name,
  enabled: values.enabled,
  default_policy: values.default_policy,
  call_timeout_seconds: values.call_timeout_seconds,
  max_concurrency: values.max_concurrency,
});

/** The body that creates a server. */
export const toBody = (values: ToolServerValues) =>
  // Which fields there are depends on the transport: the API says which are missing.
  ({
    transport: values.transport,
    prefix: values.prefix || null,
    ...commonFields(values),
    ...transportFields(values),
  }) as Body<'createToolServer'>;

/** The body that makes `values` of `before`: what differs. */
export const toChanges = (values: ToolServerValues, before: ToolServerValues): Body<'updateToolServer'> => {
  const old: Record<string, unknown> = { ...commonFields(before), ...transportFields(before) };
  return Object.fromEntries(
    Object.entries({ ...commonFields(values), ...transportFields(values) }).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(old[name]),
    ),
  );
};

/** The values that the API never shows. */
export const secrets = ['headers', 'env', 'client_secret'] as const;

/** The field of a fault: those of `oauth` are fields of the form. */
export const fieldOf = (path: string): string => path.replace(/^oauth\./, '');
