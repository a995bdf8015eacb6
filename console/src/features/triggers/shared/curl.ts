import type { TriggerSettings } from '../../../api/types.gen.ts';

/** Text between double quotes of a shell. */
const quoted = (text: string): string => text.replace(/[\\"$`]/g, '\\$&');
/** Text as one word of a shell. */
const word = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const hex = "-r | cut -d' ' -f1";
const base64 = '-binary | openssl base64 -A';

const sign = (text: string, algorithm = 'sha256', encoding = hex): string =>
  `S=$(printf %s "${text}" | openssl dgst -${algorithm} -hmac "$SECRET" ${encoding})`;

const send = (headers: readonly string[]): string =>
  [`curl "$URL"`, ...headers.map((header) => `-H "${header}"`), '--json "$BODY"'].join(' \\\n  ');

/** Another body each time: under schemes whose identity is the body, the same again would start nothing. */
const numbered = (fields = ''): string => `BODY='{${fields}"n":'$(date +%s)'}'`;

const messageId = 'ID=msg_$(openssl rand -hex 12)';

const standardWebhooks = [
  `${messageId} TS=$(date +%s) BODY='{"n":1}'`,
  `K=$(printf %s "\${SECRET#whsec_}" | base64 -d | od -An -vtx1 | tr -d ' \\n')`,
  `S=$(printf %s "$ID.$TS.$BODY" | openssl dgst -sha256 -mac HMAC -macopt hexkey:$K ${base64})`,
  send(['webhook-id: $ID', 'webhook-timestamp: $TS', 'webhook-signature: v1,$S']),
];

const hmac = ({
  header,
  algorithm,
  encoding,
  prefix,
  timestamp_header,
  separator,
}: NonNullable<TriggerSettings['hmac']>): string[] => {
  const timed = timestamp_header !== undefined;
  return [
    ...(timed ? ['TS=$(date +%s)'] : []),
    numbered(),
    // Letters of the separator would belong to the name of the variable.
    sign(timed ? `\${TS}${quoted(separator)}$BODY` : '$BODY', algorithm, encoding === 'hex' ? hex : base64),
    send([...(timed ? [`${quoted(timestamp_header)}: $TS`] : []), `${quoted(header)}: ${quoted(prefix)}$S`]),
  ];
};

/** Commands that send an event, of which `ID` is the identity. */
const named = (headers: readonly string[]): string[] => [
  `${messageId} BODY='{"n":1}'`,
  send([...headers, 'webhook-id: $ID']),
];

const commandsOf = (
  { scheme, hmac: signing, bearer }: TriggerSettings,
  secret: string | undefined,
): string[] => {
  switch (scheme) {
    case 'standard_webhooks':
      return standardWebhooks;
    case 'gitlab':
      return secret === undefined || secret.startsWith('whsec_')
        ? standardWebhooks
        : [`${messageId} BODY='{"n":1}'`, send(['X-Gitlab-Token: $SECRET', 'Idempotency-Key: $ID'])];
    case 'github':
      return [
        numbered('"action":"opened",'),
        sign('$BODY'),
        send(['X-GitHub-Event: issues', 'X-Hub-Signature-256: sha256=$S']),
      ];
    case 'slack':
      return [
        'TS=$(date +%s)',
        `BODY='{"type":"event_callback","event_id":"Ev'$TS'","event":{"type":"app_mention"}}'`,
        sign('v0:$TS:$BODY'),
        send(['X-Slack-Request-Timestamp: $TS', 'X-Slack-Signature: v0=$S']),
      ];
    case 'stripe':
      return [
        'TS=$(date +%s)',
        `BODY='{"id":"evt_'$TS'","type":"invoice.paid"}'`,
        sign('$TS.$BODY'),
        send(['Stripe-Signature: t=$TS,v1=$S']),
      ];
    case 'hmac':
      return signing ? hmac(signing) : [];
    case 'bearer': {
      const header = bearer?.header ?? 'Authorization';
      const type = header.toLowerCase() === 'authorization' ? 'Bearer ' : '';
      return named([`${quoted(header)}: ${type}$SECRET`]);
    }
    default:
      return named([]);
  }
};

/**
 * Returns the commands of a shell that send an event to a webhook, signed as its scheme has it. They need `curl`, and
 * `openssl` where they sign. Without `secret`, who copies them sets `SECRET` before; that of GitLab is taken for one that
 * signs then, as a generated one does.
 */
export const webhookCommands = (url: string, settings: TriggerSettings, secret?: string): string =>
  [
    `URL=${word(url)}`,
    ...(secret === undefined ? [] : [`SECRET=${word(secret)}`]),
    ...commandsOf(settings, secret),
  ].join('\n');
