import { createPublicKey, type KeyObject, randomBytes } from 'node:crypto';
import type { WebhookSettings } from './settings.ts';

const symmetric = 'whsec_';
const publicKey = 'whpk_';

/** The bytes of canonical base64; null for anything else, such as a changed padding bit. */
export const canonicalBase64 = (text: string): Buffer | null => {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : null;
};

/** The key of HMAC in `whsec_` + base64 of 24 to 64 bytes; null if it is not such a secret (Standard Webhooks). */
export const symmetricKey = (secret: string): Buffer | null => {
  if (!secret.startsWith(symmetric)) return null;
  const key = canonicalBase64(secret.slice(symmetric.length));
  return key && key.length >= 24 && key.length <= 64 ? key : null;
};

/** The DER of an Ed25519 public key up to its 32 bytes (RFC 8410). */
const ed25519Prefix = Buffer.from('302a300506032b6570032100', 'hex');

/** The Ed25519 key in `whpk_` + base64 of 32 bytes; null if it is not such a secret (Standard Webhooks). */
export const verifyingKey = (secret: string): KeyObject | null => {
  if (!secret.startsWith(publicKey)) return null;
  const bytes = canonicalBase64(secret.slice(publicKey.length));
  if (bytes?.length !== 32) return null;
  try {
    return createPublicKey({ key: Buffer.concat([ed25519Prefix, bytes]), format: 'der', type: 'spki' });
  } catch {
    return null;
  }
};

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Text of `length` characters of base62. A byte beyond the last whole multiple of 62 is drawn again. */
const randomBase62 = (length: number): string => {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += base62[byte % 62];
    }
  }
  return text;
};

/** A new secret for the scheme; null if its sender makes the secret, or if it has none. */
export const generateSecret = ({ scheme }: WebhookSettings): string | null => {
  if (scheme === 'standard_webhooks' || scheme === 'gitlab')
    return symmetric + randomBytes(32).toString('base64');
  return scheme === 'github' || scheme === 'hmac' || scheme === 'bearer' ? randomBase62(43) : null;
};

const visible = /^[\x20-\x7e]{16,500}$/;

/** Returns what is wrong with a secret that somebody gives, after the words `secret `; null if nothing is. */
export const secretProblem = (settings: WebhookSettings, secret: string): string | null => {
  const { scheme } = settings;
  if (scheme === 'none') return 'is not allowed: the scheme none has no secret';
  if (scheme === 'standard_webhooks') {
    if (symmetricKey(secret) || verifyingKey(secret)) return null;
    return 'must be whsec_ and base64 of 24 to 64 bytes, or whpk_ and base64 of an Ed25519 public key of 32 bytes';
  }
  if (scheme === 'gitlab' && secret.startsWith(symmetric)) {
    return symmetricKey(secret) ? null : 'must be whsec_ and base64 of 24 to 64 bytes';
  }
  if (!visible.test(secret)) return 'must have 16 to 500 visible characters of ASCII';
  const isToken = scheme === 'bearer' || scheme === 'gitlab';
  return isToken && secret !== secret.trim() ? 'must not begin or end with a space' : null;
};
