import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
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
export const sha256 = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex');

/** A secret as the audit log shows it: two equal secrets look equal, and the secret cannot be guessed from it. */
export const fingerprint = (secret: string): string => `sha256:${sha256(secret).slice(0, 12)}`;

interface Key {
  id: string;
  key: Buffer;
}

/**
 * Encryption at rest: AES-256-GCM (NIST SP 800-38D) with a data key that HKDF (RFC 5869) derives from the first of the
 * given keys. `boundTo` (table, row, column) is associated data, so that a value cannot be moved to another row. A
 * sealed value is text: `v1.<key id>.<nonce>.<ciphertext and tag>`, in base64url.
 */
export class Vault {
  readonly #keys: Key[];

  /** `keys` have 32 bytes each. The first one encrypts, all of them decrypt (rotation). */
  constructor(keys: Buffer[]) {
    this.#keys = keys.map((key) => {
      if (key.length !== 32) throw new Error('an encryption key must have 32 bytes');
      return {
        id: sha256(key).slice(0, 8),
        key: Buffer.from(hkdfSync('sha256', key, '', 'agent-platform vault v1', 32)),
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

  /** The id of the key that `seal` uses: the second part of a sealed value. */
  get keyId(): string {
    return this.#keys[0]!.id;
  }

  /** Whether the vault has the key with this id. */
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
}

/** A column of text that a Vault sealed, and `boundTo` of the row `id`. The primary key of the table is `id`. */
export interface SealedColumn {
  table: string;
  column: string;
  boundTo: (id: string) => string;
}
