import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  hash,
  hkdfSync,
  type KeyObject,
  randomBytes,
  sign,
  verify,
} from 'node:crypto';
import { inspect } from 'node:util';

/**
 * A secret value. Printed, logged or as JSON it is `[redacted]`. Only `reveal()` returns the text, so that every use of
 * it is found by that name.
 */
export class Secret {
  readonly #value: string;
  constructor(value: string) {
    this.#value = value;
  }
  reveal(): string {
    return this.#value;
  }
  toString(): string {
    return '[redacted]';
  }
  toJSON(): string {
    return '[redacted]';
  }
  [inspect.custom](): string {
    return '[redacted]';
  }
}

/** The SHA-256 of `text` in hex; a string is encoded in UTF-8. */
export const sha256 = (text: string | Buffer): string => hash('sha256', text);

/** A secret as the audit log shows it: two equal secrets look equal, and the secret cannot be guessed from it. */
export const fingerprint = (secret: string): string => hashFingerprint(sha256(secret));

/** The `fingerprint` of the secret with this SHA-256. */
export const hashFingerprint = (hash: string): string => `sha256:${hash.slice(0, 12)}`;

interface Key {
  id: string;
  key: Buffer;
  signing: KeyObject;
  verifying: KeyObject;
}

/** An Ed25519 private key in PKCS #8 (RFC 8410, section 7), up to the 32 bytes of its seed. */
const ed25519Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');

const derive = (key: Buffer, info: string): Buffer => Buffer.from(hkdfSync('sha256', key, '', info, 32));

const signingKey = (key: Buffer): KeyObject =>
  createPrivateKey({
    key: Buffer.concat([ed25519Prefix, derive(key, 'agent-platform signatures v1')]),
    format: 'der',
    type: 'pkcs8',
  });

/**
 * Encryption at rest: AES-256-GCM (NIST SP 800-38D) with a data key that HKDF (RFC 5869) derives from the first of the
 * given keys. `boundTo` (table, row, column) is associated data, so that a value cannot be moved to another row. A
 * sealed value is text: `v1.<key id>.<nonce>.<ciphertext and tag>`, in base64url.
 *
 * It also signs, with Ed25519 (RFC 8032), under a key that HKDF derives from the same key for this purpose alone.
 */
export class Vault {
  readonly #keys: Key[];

  /** `keys` have 32 bytes each. The first one encrypts, all of them decrypt (rotation). */
  constructor(keys: Buffer[]) {
    this.#keys = keys.map((key) => {
      if (key.length !== 32) throw new Error('an encryption key must have 32 bytes');
      const signing = signingKey(key);
      return {
        id: sha256(key).slice(0, 8),
        key: derive(key, 'agent-platform vault v1'),
        signing,
        verifying: createPublicKey(signing),
      };
    });
    if (this.#keys.length === 0) throw new Error('an encryption key is required');
  }

  /** Encrypts `text`. */
  seal(text: string, boundTo: string): string {
    const { id, key } = this.#keys[0]!;
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(boundTo));
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `v1.${id}.${nonce.toString('base64url')}.${sealed.toString('base64url')}`;
  }

  /** The id of the key that `seal` and `sign` use: the second part of a sealed value. */
  get keyId(): string {
    return this.#keys[0]!.id;
  }

  knows(keyId: string): boolean {
    return this.#keys.some((key) => key.id === keyId);
  }

  /**
   * Decrypts a sealed value. Throws if the vault does not have its key, if it was changed, or if it belongs to another
   * row.
   */
  open(sealed: string, boundTo: string): string {
    const [version, id, nonce, body] = sealed.split('.');
    if (version !== 'v1' || !id || !nonce || body === undefined) throw new Error('not a sealed value');
    const key = this.#keys.find((k) => k.id === id);
    if (!key) throw new Error(`sealed with the encryption key ${id}, which is not among ENCRYPTION_KEY`);
    const bytes = Buffer.from(body, 'base64url');
    const decipher = createDecipheriv('aes-256-gcm', key.key, Buffer.from(nonce, 'base64url'))
      .setAAD(Buffer.from(boundTo))
      .setAuthTag(bytes.subarray(bytes.length - 16));
    return decipher.update(bytes.subarray(0, bytes.length - 16), undefined, 'utf8') + decipher.final('utf8');
  }

  /** Signs `text` with the first key. Returns the 64 bytes of the signature in base64. */
  sign(text: string): string {
    return sign(null, Buffer.from(text), this.#keys[0]!.signing).toString('base64');
  }

  /** Returns whether the key `keyId` made `signature` for `text`. False if the vault does not have that key. */
  verify(keyId: string, text: string, signature: string): boolean {
    const key = this.#keys.find(({ id }) => id === keyId);
    if (!key) return false;
    return verify(null, Buffer.from(text), key.verifying, Buffer.from(signature, 'base64'));
  }

  /** The public key that verifies signatures of the key `keyId`: PEM of its SPKI (RFC 8410); null if it is unknown. */
  publicKey(keyId: string): string | null {
    const key = this.#keys.find(({ id }) => id === keyId);
    return key ? key.verifying.export({ format: 'pem', type: 'spki' }).toString() : null;
  }
}

/** A column of text that a Vault sealed, and `boundTo` of the row `id`. The primary key of the table is `id`. */
export interface SealedColumn {
  table: string;
  column: string;
  boundTo: (id: string) => string;
}
