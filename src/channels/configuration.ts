import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { newSigningSecret, webhookFields } from '../callbacks/index.ts';
import { optional, text, validate } from '../http/index.ts';
import { emailAddress } from '../lib/email.ts';
import { type Fault, unprocessable } from '../lib/errors.ts';
import { maxUrlLength, urlFault } from '../lib/http-url.ts';
import { withoutUndefined } from '../lib/objects.ts';
import { isLoopbackHost } from '../lib/outgoing-proxy.ts';
import {
  type ChannelKind,
  type ChannelSettings,
  type EmailSettings,
  fieldsOfKind,
  type SlackSettings,
} from './settings.ts';

const slackApi = 'https://slack.com/api/';
const pagerdutyApi = 'https://events.pagerduty.com/v2/enqueue';

const visible = (max: number) =>
  text(max, 1)
    .refine((value) => /^[\x21-\x7e]+$/.test(value), 'must consist of visible ASCII characters')
    .describe('Never returned.');

/** An https address, or an http one of this machine. */
const secureUrl = z
  .string()
  .superRefine((value, context) => {
    const { protocol, hostname } = URL.canParse(value) ? new URL(value) : { protocol: '', hostname: '' };
    const message =
      urlFault(value) ??
      (protocol === 'http:' && !isLoopbackHost(hostname) ? 'must be an https address' : null);
    if (message !== null) context.addIssue({ code: 'custom', message });
  })
  .meta({ openapi: { type: 'string', format: 'uri', maxLength: maxUrlLength } });

const apiUrl = secureUrl
  .refine((value) => !/[?#]/.test(value), 'must not have a query or fragment')
  .meta({ openapi: { type: 'string', format: 'uri', maxLength: maxUrlLength } });

/** Returns the parts of the address of an SMTP server; null if it is not one. */
export const parseSmtpUrl = (
  value: string,
): { secure: boolean; host: string; port: number; user: string; password: string } | null => {
  if (value.length > maxUrlLength || /[\s\u0000-\u001f\u007f]/.test(value)) return null;
  if (!/^smtps?:\/\/[^/\\]/i.test(value) || !URL.canParse(value)) return null;
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(value);
  if (hostname === '' || (pathname !== '' && pathname !== '/') || search !== '' || hash !== '') return null;
  try {
    const [user, secret] = [decodeURIComponent(username), decodeURIComponent(password)];
    // Lines would be commands of their own.
    if (/[\u0000-\u001f\u007f]/.test(user + secret) || (user === '') !== (secret === '')) return null;
    const secure = protocol === 'smtps:';
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    return { secure, host, port: Number(port || (secure ? 465 : 587)), user, password: secret };
  } catch {
    return null; // A percent sign that encodes nothing.
  }
};

const smtpUrl = z
  .string()
  .refine(
    (value) => parseSmtpUrl(value) !== null,
    'must be smtp:// or smtps:// with a host, and may have user:password@ and a port',
  )
  .meta({ openapi: { type: 'string', format: 'uri', maxLength: maxUrlLength } })
  .describe('`smtp://` (port 587) or `smtps://` (port 465), with `user:password@`. Never returned.');

const address = z
  .string()
  .refine((value) => emailAddress(value) !== null, 'must be an e-mail address')
  .meta({ openapi: { type: 'string', format: 'email', maxLength: 254 } });

/** Returns the name and the address of a sender: `Agents <agents@example.com>`, or an address alone; null if it is none. */
export const parseSender = (value: string): { name: string; address: string } | null => {
  if (/[\u0000-\u001f\u007f]/.test(value)) return null;
  const [, name = '', inBrackets] = /^\s*([^<>]*?)\s*<([^<>]+)>\s*$/.exec(value) ?? [];
  const found = emailAddress(inBrackets ?? value);
  return found === null ? null : { name: name.replace(/^"(.*)"$/, '$1'), address: inBrackets ?? value };
};

const sender = text(500, 1)
  .refine(
    (value) => parseSender(value) !== null,
    'must be an e-mail address, such as agents@example.com or Agents <agents@example.com>',
  )
  .meta({ openapi: { type: 'string', minLength: 1, maxLength: 500 } });

const mostRecipients = 20;
const recipients = z
  .array(address)
  .max(mostRecipients, `must have at most ${mostRecipients} addresses`)
  .refine((list) => new Set(list.map(emailAddress)).size === list.length, 'must not have an address twice');

const conversation = z
  .string()
  .regex(/^[CGD][A-Z0-9]+$/, 'must be the id of a conversation, such as C0123456789')
  .max(50)
  .describe('The conversation of `"channel"` in the steps of routes.');
const buttons = z.boolean().describe('Whether people decide in Slack. Else its messages have a link alone.');
const tls = z
  .enum(['required', 'none'])
  .describe('`none` sends in clear text: only without a password, but on this machine.');
const routingKey = z
  .string()
  .regex(/^[\x21-\x7e]{32}$/, 'must have 32 characters')
  .describe('Of an integration of the Events API v2. Never returned.');

const atLeastOne =
  'is required unless there is a `signing_secret`: with it Slack sends clicks over a socket, without a public address';

/** The fields of each kind in the body of a create. */
export const createdFields = {
  slack: {
    bot_token: visible(500),
    app_token: optional(visible(500)).describe(
      'For Socket Mode, which needs no public address. It or `signing_secret`. Never returned.',
    ),
    signing_secret: optional(visible(500)).describe(
      'For clicks over HTTP, at `interactions_url`. Never returned.',
    ),
    conversation: optional(conversation),
    buttons: optional(buttons, true),
    api_url: optional(apiUrl, slackApi),
  },
  email: {
    smtp_url: smtpUrl,
    from: sender,
    recipients: optional(recipients, [] as string[]).describe('Those of `"channel"` in the steps of routes.'),
    tls: optional(tls, 'required' as const),
  },
  webhook: {
    url: webhookFields.url,
    headers: optional(webhookFields.headers).describe('Additional headers. Their values are never returned.'),
    secret: optional(webhookFields.secret).describe(
      'Signs each request. Generated, and shown in this response alone, if absent.',
    ),
  },
  teams: { url: secureUrl.describe('The address of a workflow. Never returned.') },
  pagerduty: { routing_key: routingKey, url: optional(secureUrl, pagerdutyApi) },
} as const;

/** The check of a create body of Slack that its fields alone do not make. */
export const checkCreatedSlack = (
  body: { app_token?: unknown; signing_secret?: unknown },
  context: z.RefinementCtx,
): void => {
  const problem = ways(body);
  if (problem) {
    const absent = problem === atLeastOne;
    const params = { missing: problem, absent };
    context.addIssue({ code: 'custom', path: ['app_token'], message: problem, params });
  }
};

const ways = ({ app_token, signing_secret }: { app_token?: unknown; signing_secret?: unknown }) => {
  if (app_token == null && signing_secret == null) return atLeastOne;
  return app_token != null && signing_secret != null
    ? 'cannot be combined with `signing_secret`: a click would come twice'
    : null;
};

/** The fields of each kind in the body of an update: what is left out stays, null removes. */
const changedFields = {
  slack: z.object({
    bot_token: visible(500).optional(),
    app_token: visible(500).nullish(),
    signing_secret: visible(500).nullish(),
    conversation: conversation.nullish(),
    buttons: buttons.nullish(),
    api_url: apiUrl.nullish(),
  }),
  email: z.object({
    smtp_url: smtpUrl.optional(),
    from: sender.optional(),
    recipients: recipients.nullish(),
    tls: tls.nullish(),
  }),
  webhook: z.object({
    url: webhookFields.url.optional(),
    headers: webhookFields.headers.nullish(),
    secret: webhookFields.secret.optional(),
  }),
  teams: z.object({ url: secureUrl.optional() }),
  pagerduty: z.object({ routing_key: routingKey.optional(), url: secureUrl.nullish() }),
} as const;

/** What the update of a channel describes: the fields of all kinds. */
export const describedChanges = {
  ...changedFields.slack.shape,
  ...changedFields.email.shape,
  headers: changedFields.webhook.shape.headers.describe('Replaces all headers; null removes them.'),
  secret: changedFields.webhook.shape.secret,
  routing_key: changedFields.pagerduty.shape.routing_key,
  url: changedFields.pagerduty.shape.url.describe('Another address needs every secret again.'),
};

/** The values that null in a change stands for. */
const resetTo: Record<string, unknown> = {
  buttons: true,
  api_url: slackApi,
  recipients: [],
  tls: 'required',
  headers: {},
  url: pagerdutyApi,
};

const withSlash = (url: string): string => (url.endsWith('/') ? url : `${url}/`);

/** Settings in one form. */
const normalized = (settings: ChannelSettings): ChannelSettings => {
  const known = withoutUndefined(settings as unknown as Record<string, unknown>);
  if (typeof known.api_url === 'string') known.api_url = withSlash(known.api_url);
  return known as unknown as ChannelSettings;
};

/** The settings of a create body, with a generated secret where it has none. */
export const createdSettings = (kind: ChannelKind, body: Record<string, unknown>): ChannelSettings => {
  const own = Object.fromEntries(fieldsOfKind[kind].map((field) => [field, body[field]]));
  if (kind === 'webhook') {
    own.headers ??= {};
    own.secret ??= newSigningSecret();
  }
  return normalized({ kind, ...own } as unknown as ChannelSettings);
};

const slackFaults = (settings: SlackSettings): Fault[] => {
  const problem = ways(settings);
  return problem === null ? [] : [{ path: 'app_token', message: problem }];
};

const emailFaults = ({ smtp_url, tls: mode }: EmailSettings): Fault[] => {
  const { secure, host, password } = parseSmtpUrl(smtp_url)!;
  if (mode !== 'none') return [];
  if (secure)
    return [{ path: 'tls', message: 'must be `required` with smtps://, which is always encrypted' }];
  if (password === '' || isLoopbackHost(host)) return [];
  return [{ path: 'tls', message: 'must be `required`, because `smtp_url` has a password' }];
};

/** Throws 422 for settings that could never be used. */
export const checkSettings = (settings: ChannelSettings): void => {
  const faults =
    settings.kind === 'slack'
      ? slackFaults(settings)
      : settings.kind === 'email'
        ? emailFaults(settings)
        : [];
  if (faults.length > 0) throw unprocessable(faults);
};

/** The fields that decide where the secrets of a kind go, and those secrets. */
const moving: { [K in ChannelKind]?: { address: 'url' | 'api_url'; secrets: readonly string[] } } = {
  slack: { address: 'api_url', secrets: ['bot_token', 'app_token', 'signing_secret'] },
  webhook: { address: 'url', secrets: ['headers', 'secret'] },
  pagerduty: { address: 'url', secrets: ['routing_key'] },
};

const isThere = (value: unknown): boolean =>
  value !== undefined && !(typeof value === 'object' && Object.keys(value as object).length === 0);

/** The stored secrets that a change would send to another address. */
const movedSecrets = (
  before: Record<string, unknown>,
  after: Record<string, unknown>,
  given: Record<string, unknown>,
): Fault[] => {
  const { address: field, secrets } = moving[before.kind as ChannelKind] ?? { address: 'url', secrets: [] };
  if (before[field] === after[field]) return [];
  return secrets
    .filter((name) => isThere(before[name]) && given[name] === undefined)
    .map((path) => ({ path, message: `must be given again, because ${field} changes` }));
};

/**
 * Returns `before` with the changes of a PATCH, of which `body` may have more. Throws 422 for wrong values, for fields of
 * another kind, and if a stored secret would go to another place than the one it was given for.
 */
export const mergeSettings = (before: ChannelSettings, body: Record<string, unknown>): ChannelSettings => {
  const own: readonly string[] = fieldsOfKind[before.kind];
  const others = Object.values(fieldsOfKind)
    .flat()
    .filter((field) => !own.includes(field) && body[field] != null);
  if (others.length > 0) {
    throw unprocessable(
      [...new Set(others)].map((path) => ({
        path,
        message: `is no field of a channel of the kind ${before.kind}`,
      })),
    );
  }
  const given: Record<string, unknown> = validate(changedFields[before.kind], body, 'body');
  const changes = Object.fromEntries(
    Object.entries(withoutUndefined(given)).map(([name, value]) => [
      name,
      value === null ? resetTo[name] : value,
    ]),
  );
  const after = normalized({ ...before, ...changes } as unknown as ChannelSettings);
  const faults = movedSecrets({ ...before }, { ...after }, given);
  if (faults.length > 0) throw unprocessable(faults);
  return after;
};

export const sameSettings = (a: ChannelSettings, b: ChannelSettings): boolean =>
  isDeepStrictEqual(withoutUndefined({ ...a }), withoutUndefined({ ...b }));
