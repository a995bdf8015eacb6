import type { UsedToolServer } from '../../api/types.gen.ts';
import { describeForm } from '../../resource/describe-form.ts';
import { choice, flag, lines, numeric, onOff, secret, secretMap, text } from '../../resource/fields.tsx';
import { common } from '../../text/en/common.ts';
import { toolServers as words } from '../../text/en/tool-servers.ts';
import type { SecretEntry } from '../../ui/index.ts';

interface ToolServerValues
  extends Record<
      'name' | 'prefix' | 'url' | 'client_id' | 'issuer' | 'scope' | 'command' | 'args' | 'cwd',
      string
    >,
    Record<'headers' | 'env', SecretEntry[]>,
    Record<'call_timeout_seconds' | 'max_concurrency', number | null>,
    Record<'oauth' | 'enabled' | 'allow_input', boolean> {
  transport: UsedToolServer['transport'];
  client_secret: string | null;
  default_policy: UsedToolServer['default_policy'];
}

const overHttp = ({ transport }: ToolServerValues): boolean => transport === 'http';
const asProcess = ({ transport }: ToolServerValues): boolean => transport === 'stdio';
const withOAuth = ({ transport, oauth }: ToolServerValues): boolean => transport === 'http' && oauth;

export const toolServerForm = describeForm<
  ToolServerValues,
  UsedToolServer,
  'createToolServer',
  'updateToolServer'
>(
  {
    words,
    paths: {
      client_id: 'oauth.client_id',
      client_secret: 'oauth.client_secret',
      issuer: 'oauth.issuer',
      scope: 'oauth.scope',
    },
    rows: [['call_timeout_seconds', 'max_concurrency']],
  },
  {
    name: text({ label: common.name, required: true }),
    prefix: text({ hint: words.prefixHint, mono: true, fixed: true }),
    transport: choice('http', words.transports, { hint: words.transportHint, fixed: true }),
    url: text({ hint: words.urlHint, type: 'url', required: true, when: overHttp }),
    headers: secretMap('header_names', { hint: words.headersHint, when: overHttp }),
    oauth: flag(false, {
      when: overHttp,
      read: (read) => Boolean(read('oauth')),
      // Its parts are fields.
      send: (used) => (used ? undefined : null),
    }),
    client_id: text({ required: true, when: withOAuth }),
    client_secret: secret({ required: true, when: withOAuth }),
    issuer: text({ hint: words.issuerHint, type: 'url', required: true, when: withOAuth }),
    scope: text({ when: withOAuth }),
    command: text({ hint: words.commandHint, mono: true, required: true, when: asProcess }),
    args: lines({
      hint: words.argsHint,
      mono: true,
      rows: 4,
      when: asProcess,
      send: (value) => value.split('\n').filter((line) => line !== ''),
    }),
    env: secretMap('env_names', { hint: words.envHint, when: asProcess }),
    cwd: text({ hint: words.cwdHint, mono: true, when: asProcess }),
    default_policy: choice('require_approval', words.policies, {
      hint: words.defaultPolicyHint,
      notes: words.policyHints,
    }),
    call_timeout_seconds: numeric({
      first: 60,
      sendsEmpty: true,
      hint: words.timeoutHint,
      unit: words.seconds,
      min: 1,
      max: 600,
    }),
    max_concurrency: numeric({ first: 8, sendsEmpty: true, hint: words.concurrencyHint, min: 1, max: 100 }),
    allow_input: onOff(true, { hint: words.allowInputHint }),
    enabled: flag(true),
  },
);
