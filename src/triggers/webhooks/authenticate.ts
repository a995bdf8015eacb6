import { createHmac, hash, verify } from 'node:crypto';
import { isSameText, slackSignature, slackSigned } from '../../lib/signed-text.ts';
import { canonicalBase64, symmetricKey, verifyingKey } from './secrets.ts';
import type { WebhookSettings } from './settings.ts';

/** A delivery over HTTP: names of headers are in lower case, the body is as it arrived. */
export interface WebhookRequest {
  headers: Record<string, string>;
  body: Buffer;
}

type Authentication =
  | {
      authentic: true;
      /** The text that was signed, as its SHA-256 in hex; null under schemes without a signature. */
      signedHash: string | null;
    }
  | { authentic: false; reason: 'missing' | 'wrong' | 'stale'; message: string };

type Refused = Extract<Authentication, { authentic: false }>;

const toleranceMs = 300_000;
/** More signatures than senders have keys are not looked at. */
const mostSignatures = 10;

const missing = (header: string): Refused => ({
  authentic: false,
  reason: 'missing',
  message: `The header ${header} is missing.`,
});

const wrong = (header: string): Refused => ({
  authentic: false,
  reason: 'wrong',
  message: `The header ${header} does not match the secret of this trigger.`,
});

/** Returns what is wrong with a timestamp in seconds; null if it is at most 300 s from `now`. */
const timestampFault = (header: string, value: string, now: number): Refused | null => {
  if (!/^\d{1,12}$/.test(value))
    return {
      authentic: false,
      reason: 'wrong',
      message: `The timestamp of ${header} must be a number of seconds.`,
    };
  if (Math.abs(now - Number(value) * 1000) <= toleranceMs) return null;
  return {
    authentic: false,
    reason: 'stale',
    message: `The timestamp of ${header} is more than 300 s from the time of this server. Check the clock of the sender.`,
  };
};

/** True if a signature is the expected one of a secret; all pairs are compared. */
const anyEqual = (signatures: readonly string[], expected: readonly string[]): boolean => {
  let found = false;
  for (const signature of signatures.slice(0, mostSignatures)) {
    for (const one of expected) found = isSameText(signature, one) || found;
  }
  return found;
};

const authenticated = (signed: Buffer): Authentication => ({
  authentic: true,
  signedHash: hash('sha256', signed),
});

const signedText = (before: string, body: Buffer): Buffer => Buffer.concat([Buffer.from(before), body]);

/** Standard Webhooks 1.0: `v1` is HMAC-SHA256, `v1a` is Ed25519. */
const standardWebhooks = (
  secrets: readonly string[],
  { headers, body }: WebhookRequest,
  now: number,
): Authentication => {
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
    if (!headers[name]) return missing(name);
  }
  const timestamp = headers['webhook-timestamp']!;
  const fault = timestampFault('webhook-timestamp', timestamp, now);
  if (fault) return fault;
  const signed = signedText(`${headers['webhook-id']}.${timestamp}.`, body);
  const signatures = headers['webhook-signature']!.split(' ').filter(Boolean).slice(0, mostSignatures);
  const expected = secrets.flatMap((secret) => {
    const key = symmetricKey(secret);
    return key ? [`v1,${createHmac('sha256', key).update(signed).digest('base64')}`] : [];
  });
  const keys = secrets.flatMap((secret) => verifyingKey(secret) ?? []);
  const verified = signatures.some((signature) => {
    if (keys.length === 0 || !signature.startsWith('v1a,')) return false;
    const bytes = canonicalBase64(signature.slice(4));
    return bytes !== null && keys.some((key) => verify(null, signed, key, bytes));
  });
  return anyEqual(signatures, expected) || verified ? authenticated(signed) : wrong('webhook-signature');
};

const github = (secrets: readonly string[], { headers, body }: WebhookRequest): Authentication => {
  const signature = headers['x-hub-signature-256'];
  if (!signature) return missing('X-Hub-Signature-256');
  const expected = secrets.map(
    (secret) => `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
  );
  return anyEqual([signature], expected) ? authenticated(body) : wrong('X-Hub-Signature-256');
};

/** The secret itself in a header. */
const token = (secrets: readonly string[], header: string, given: string | undefined): Authentication => {
  if (!given) return missing(header);
  return anyEqual([given], secrets) ? { authentic: true, signedHash: null } : wrong(header);
};

/** A secret `whsec_…` signs; any other is a token. In an overlap there may be one of each. */
const gitlab = (secrets: readonly string[], request: WebhookRequest, now: number): Authentication => {
  const signing = secrets.filter((secret) => symmetricKey(secret) !== null);
  const tokens = secrets.filter((secret) => symmetricKey(secret) === null);
  const given = request.headers['x-gitlab-token'];
  if (tokens.length > 0 && (signing.length === 0 || given)) {
    const result = token(tokens, 'X-Gitlab-Token', given);
    if (result.authentic || signing.length === 0) return result;
  }
  return standardWebhooks(signing, request, now);
};

const slack = (
  secrets: readonly string[],
  { headers, body }: WebhookRequest,
  now: number,
): Authentication => {
  const timestamp = headers['x-slack-request-timestamp'];
  const signature = headers['x-slack-signature'];
  if (!timestamp) return missing('X-Slack-Request-Timestamp');
  if (!signature) return missing('X-Slack-Signature');
  const fault = timestampFault('X-Slack-Request-Timestamp', timestamp, now);
  if (fault) return fault;
  const signed = slackSigned(timestamp, body);
  const expected = secrets.map((secret) => slackSignature(secret, signed));
  return anyEqual([signature], expected) ? authenticated(signed) : wrong('X-Slack-Signature');
};

const stripe = (
  secrets: readonly string[],
  { headers, body }: WebhookRequest,
  now: number,
): Authentication => {
  const header = headers['stripe-signature'];
  if (!header) return missing('Stripe-Signature');
  const parts = header.split(',').map((part) => part.trim());
  const valuesOf = (name: string) =>
    parts.filter((part) => part.startsWith(`${name}=`)).map((part) => part.slice(name.length + 1));
  const [timestamp, another] = valuesOf('t');
  if (timestamp === undefined || another !== undefined) return wrong('Stripe-Signature');
  const fault = timestampFault('Stripe-Signature', timestamp, now);
  if (fault) return fault;
  const signed = signedText(`${timestamp}.`, body);
  const expected = secrets.map((secret) => createHmac('sha256', secret).update(signed).digest('hex'));
  return anyEqual(valuesOf('v1'), expected) ? authenticated(signed) : wrong('Stripe-Signature');
};

const hmac = (
  {
    header,
    algorithm,
    encoding,
    prefix,
    timestamp_header: timestampHeader,
    separator,
  }: Extract<WebhookSettings, { scheme: 'hmac' }>['hmac'],
  secrets: readonly string[],
  { headers, body }: WebhookRequest,
  now: number,
): Authentication => {
  const signature = headers[header.toLowerCase()];
  if (!signature) return missing(header);
  let signed = body;
  if (timestampHeader !== undefined) {
    const timestamp = headers[timestampHeader.toLowerCase()];
    if (!timestamp) return missing(timestampHeader);
    const fault = timestampFault(timestampHeader, timestamp, now);
    if (fault) return fault;
    signed = signedText(timestamp + separator, body);
  }
  const expected = secrets.map(
    (secret) => prefix + createHmac(algorithm, secret).update(signed).digest(encoding),
  );
  return anyEqual([signature], expected) ? authenticated(signed) : wrong(header);
};

const bearer = (header: string, secrets: readonly string[], { headers }: WebhookRequest): Authentication => {
  const value = headers[header.toLowerCase()];
  if (header.toLowerCase() !== 'authorization') return token(secrets, header, value);
  if (!value) return missing(header);
  const given = /^Bearer +(.+)$/i.exec(value)?.[1];
  return given === undefined ? wrong(header) : token(secrets, header, given);
};

/**
 * Returns whether a delivery is from who has one of the `secrets`. Everything is checked on the raw bytes. Signatures are
 * compared as canonical text, so that one with a changed padding bit, or in other letters, is wrong. `now` is in
 * milliseconds.
 */
export const authenticate = (
  settings: WebhookSettings,
  secrets: readonly string[],
  request: WebhookRequest,
  now: number,
): Authentication => {
  switch (settings.scheme) {
    case 'standard_webhooks':
      return standardWebhooks(secrets, request, now);
    case 'github':
      return github(secrets, request);
    case 'gitlab':
      return gitlab(secrets, request, now);
    case 'slack':
      return slack(secrets, request, now);
    case 'stripe':
      return stripe(secrets, request, now);
    case 'hmac':
      return hmac(settings.hmac, secrets, request, now);
    case 'bearer':
      return bearer(settings.bearer.header, secrets, request);
    case 'none':
      return { authentic: true, signedHash: null };
  }
};
