import { createHmac, randomBytes } from 'node:crypto';

const prefix = 'whsec_';
const bytes = { min: 24, max: 64, generated: 32 };

/** Returns a new signing secret: `whsec_` and base64. */
export const newSigningSecret = (): string => prefix + randomBytes(bytes.generated).toString('base64');

const keyOf = (secret: string): Buffer => Buffer.from(secret.slice(prefix.length), 'base64');

/** Returns whether `secret` is `whsec_` and the base64 of 24 to 64 bytes. */
export const isSigningSecret = (secret: string): boolean => {
  if (!secret.startsWith(prefix)) return false;
  const key = keyOf(secret);
  return prefix + key.toString('base64') === secret && key.length >= bytes.min && key.length <= bytes.max;
};

/**
 * The headers of one attempt (Standard Webhooks 1.0, "Signature scheme"). `id` is the same in every attempt;
 * `seconds` is the time of this one, since 1970.
 */
export const signedHeaders = (
  secret: string,
  { id, seconds, body }: { id: string; seconds: number; body: string },
): Record<string, string> => {
  const signature = createHmac('sha256', keyOf(secret)).update(`${id}.${seconds}.${body}`).digest('base64');
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${signature}`,
  };
};
