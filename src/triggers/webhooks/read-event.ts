import { isObject } from '../../lib/objects.ts';
import { type CloudEvent, readCloudEvent } from '../cloud-events.ts';
import { type EventAttributes, eventHeaders, type TriggerEvent } from '../event.ts';
import { isForm, mediaType, type ParsedBody, parseEventBody } from '../event-body.ts';
import type { WebhookRequest } from './authenticate.ts';
import type { WebhookSettings } from './settings.ts';

/** An authentic delivery as an event. */
export interface WebhookEvent {
  /** What makes two deliveries the same event, whatever their unsigned headers; null if each delivery is an event. */
  identity: string | null;
  event: TriggerEvent;
  /** A sentence why the body cannot be read, and is null in the event; null if it can be. */
  invalid: string | null;
  /** True for the ping that GitHub sends when a webhook is made. */
  ping: boolean;
  /** The depth of the Work Item whose callback this is; 0 for other senders. */
  depth: number;
}

const credentials = new Set([
  'authorization',
  'cookie',
  'proxy-authorization',
  'stripe-signature',
  'webhook-signature',
  'x-api-key',
  'x-gitlab-token',
  'x-hub-signature',
  'x-hub-signature-256',
  'x-slack-signature',
]);

/** Returns whether a header, by its name in lower case, has a credential or a signature: no expression and no reader sees it. */
const isCredential = (settings: WebhookSettings, name: string): boolean =>
  credentials.has(name) ||
  (settings.scheme === 'hmac' && settings.hmac.header.toLowerCase() === name) ||
  (settings.scheme === 'bearer' && settings.bearer.header.toLowerCase() === name);

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

const field = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined);

const typeOf = (
  { scheme }: WebhookSettings,
  headers: Record<string, string>,
  body: unknown,
): string | null => {
  const own = text(field(body, 'type'));
  if (scheme === 'github') return text(headers['x-github-event']) ?? own;
  if (scheme === 'gitlab') return text(headers['x-gitlab-event']) ?? own;
  if (scheme === 'slack')
    return text(field(field(body, 'event'), 'type')) ?? own ?? text(field(body, 'command'));
  if (scheme === 'bearer' || scheme === 'none')
    return text(headers['x-github-event']) ?? text(headers['x-gitlab-event']) ?? own;
  return own;
};

/** Ids of CloudEvents are unique for their source (CloudEvents 1.0, section 3.1.1). */
const cloudIdentity = ({ source, id }: CloudEvent): string => JSON.stringify([source, id]);

const headerId = ({ headers }: WebhookRequest): string | null =>
  text(headers['webhook-id']) ?? text(headers['idempotency-key']);

/** The identity of a delivery, and the sender's name for its event. Only what is signed is an identity under a scheme that signs. */
const identify = (
  { scheme }: WebhookSettings,
  request: WebhookRequest,
  signedHash: string | null,
  body: unknown,
  cloudEvent: CloudEvent | null,
): { identity: string | null; name: string | null } => {
  const same = (id: string | null) => ({ identity: id, name: id });
  const { headers } = request;
  switch (scheme) {
    case 'standard_webhooks':
      return same(headers['webhook-id']!);
    case 'github':
      return { identity: signedHash, name: text(headers['x-github-delivery']) ?? signedHash };
    case 'gitlab':
      return same(signedHash === null ? headerId(request) : headers['webhook-id']!);
    case 'slack':
      return same(text(field(body, 'event_id')) ?? signedHash);
    case 'stripe':
      return same(text(field(body, 'id')) ?? signedHash);
    case 'hmac':
      return cloudEvent?.mode === 'structured'
        ? { identity: cloudIdentity(cloudEvent), name: cloudEvent.id }
        : { identity: signedHash, name: cloudEvent?.id ?? signedHash };
    default:
      return cloudEvent
        ? { identity: cloudIdentity(cloudEvent), name: cloudEvent.id }
        : same(headerId(request));
  }
};

const readDepth = (header: string | undefined): number =>
  header !== undefined && /^\d{1,4}$/.test(header) ? Number(header) : 0;

type Content = { cloudEvent: CloudEvent | null; body: unknown; invalid: string | null };

const contentOf = (parsed: ParsedBody): Content =>
  'value' in parsed
    ? { cloudEvent: null, body: parsed.value, invalid: null }
    : { cloudEvent: null, body: null, invalid: parsed.invalid };

/**
 * Reads an authentic delivery. `signedHash` is that of `authenticate`. `occurrenceId` names an event that its sender does
 * not name. Returns null for a batch of CloudEvents, which is refused.
 */
export const readWebhookEvent = (
  settings: WebhookSettings,
  request: WebhookRequest,
  {
    signedHash,
    receivedAt,
    occurrenceId,
  }: { signedHash: string | null; receivedAt: Date; occurrenceId: string },
): WebhookEvent | null => {
  const read = readCloudEvent(request.headers, request.body, 'ce-');
  if (read && 'batch' in read) return null;
  let content: Content;
  if (read && 'cloudEvent' in read)
    content = { cloudEvent: read.cloudEvent, body: read.cloudEvent.body, invalid: null };
  else if (read) content = { cloudEvent: null, body: null, invalid: read.invalid };
  else content = contentOf(parseEventBody(request.body, request.headers['content-type']));
  const { cloudEvent, body, invalid } = content;
  const { identity, name } = identify(settings, request, signedHash, body, cloudEvent);
  const attributes: EventAttributes = cloudEvent ?? {
    type: typeOf(settings, request.headers, body),
    source: settings.scheme,
    subject: null,
    time: null,
  };
  const { type, source, subject, time } = attributes;
  return {
    identity,
    event: {
      id: name ?? occurrenceId,
      type,
      source,
      subject,
      time,
      received_at: receivedAt.toISOString(),
      headers: eventHeaders(Object.entries(request.headers), (header) => isCredential(settings, header)),
      body,
    },
    invalid,
    ping:
      settings.scheme === 'github' &&
      field(body, 'zen') !== undefined &&
      field(body, 'hook_id') !== undefined,
    depth: readDepth(request.headers['agent-platform-depth']),
  };
};

/** The response that Slack expects at once: to `url_verification` its challenge, to a form nothing; null for other deliveries. */
export const slackResponse = (
  { headers, body }: WebhookRequest,
  value: unknown,
): { challenge: string } | 'empty' | null => {
  if (isForm(mediaType(headers['content-type']))) return body.length > 0 ? 'empty' : null;
  if (field(value, 'type') !== 'url_verification') return null;
  const challenge = text(field(value, 'challenge'));
  return challenge === null ? null : { challenge };
};
