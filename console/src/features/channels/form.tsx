import { channels as kinds } from '../../api/kinds.gen.ts';
import type { Channel } from '../../api/types.gen.ts';
import { describeForm } from '../../resource/describe-form.ts';
import { choice, type Field, flag, lines, secret, secretMap, text } from '../../resource/fields.tsx';
import { channels as words } from '../../text/en/channels.ts';
import { common } from '../../text/en/common.ts';
import { type SecretEntry, SecretField, TextField } from '../../ui/index.ts';

type Kind = Channel['kind'];

interface ChannelValues
  extends Record<'name' | 'conversation' | 'api_url' | 'from' | 'recipients', string>,
    Record<
      'bot_token' | 'app_token' | 'signing_secret' | 'smtp_url' | 'url' | 'secret' | 'routing_key',
      string | null
    >,
    Record<'enabled' | 'include_arguments' | 'buttons', boolean> {
  kind: Kind;
  tls: keyof typeof words.tlsModes;
  headers: SecretEntry[];
}

/** Whether messages have arguments unless someone says otherwise: those of other systems do not. */
const showsArguments = (kind: Kind): boolean => kind === 'slack' || kind === 'email';

/** The address of a webhook or of PagerDuty; that of a workflow of Teams is a secret, and null while it stays. */
const url: Field<string | null, ChannelValues> = {
  ...secret<ChannelValues>({
    hint: ({ kind }) => words.urlHints[kind as keyof typeof words.urlHints],
    read: (read) => (read('url_set') ? null : ((read('url') as string | undefined) ?? '')),
  }),
  control: (props, { kind }) =>
    kind === 'teams' ? (
      <SecretField {...props} set />
    ) : (
      <TextField {...props} value={props.value ?? ''} type="url" />
    ),
};

export const channelForm = describeForm<ChannelValues, Channel, 'createChannel', 'updateChannel'>(
  { words, kinds, kindOf: ({ kind }) => kind, paths: {} },
  {
    kind: choice('slack', words.kinds, {
      hint: ({ kind }) => words.kindHints[kind],
      fixed: true,
      also: (kind) => ({ include_arguments: showsArguments(kind) }),
    }),
    name: text({ label: common.name, required: true }),
    bot_token: secret({ hint: words.botTokenHint }),
    app_token: secret({ hint: words.appTokenHint }),
    signing_secret: secret({ hint: words.signingSecretHint }),
    conversation: text({ hint: words.conversationHint, mono: true }),
    smtp_url: secret({ hint: words.smtpHint }),
    from: text({ hint: words.fromHint }),
    recipients: lines({ hint: words.recipientsHint, rows: 3 }),
    tls: choice('required', words.tlsModes, { hint: ({ tls }) => words.tlsHints[tls] }),
    url,
    routing_key: secret({ hint: words.routingKeyHint }),
    headers: secretMap('header_names', { hint: words.headersHint }),
    secret: secret({
      hint: words.secretHint,
      // A stored one can be replaced, and not removed.
      send: (value) => value || undefined,
    }),
    buttons: flag(true, { hint: words.buttonsHint }),
    include_arguments: flag(true, {
      hint: words.includeArgumentsHint,
      // PagerDuty has alerts only.
      when: ({ kind }) => kind !== 'pagerduty',
    }),
    api_url: text({ hint: words.apiUrlHint, type: 'url' }),
    enabled: flag(true, { hint: words.enabledHint, fixed: true }),
  },
);
