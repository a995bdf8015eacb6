import { timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Database, notify, type Tx } from '../database/index.ts';
import { sha256 } from '../lib/crypto.ts';
import { ApiError, messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import type { Principal } from '../lib/principal.ts';
import { isKeyValue } from './key-format.ts';
import { findKeyByHash, type ShownKey, touchKey } from './store.ts';

/** The channel that notifies replicas of a revoked key or a changed role of a person. */
const keysChannel = 'api_keys';

/** How long a key is cached, in milliseconds. A revocation whose notification was lost takes effect after this time. */
const cacheTtlMs = 900;
const maxCached = 10_000;
/** How exact `last_used_at` is, in milliseconds, so that not every request writes. */
const touchEveryMs = 60_000;

const unauthorized = (message: string) => new ApiError('unauthorized', message);

const principalOf = (key: ShownKey): Principal =>
  key.kind === 'personal'
    ? { kind: 'person', id: key.user_id!, name: key.user_name ?? key.name, role: key.role, keyId: key.id }
    : { kind: 'service_account', id: key.id, name: key.name, role: key.role, keyId: key.id };

const bootstrap: Principal = {
  kind: 'service_account',
  id: 'bootstrap',
  name: 'bootstrap administrator',
  role: 'admin',
  keyId: 'bootstrap',
};

/** Notifies every replica that a key was revoked, when `tx` commits. */
export const notifyRevoked = (tx: Tx): Promise<void> => notify(tx, keysChannel);

/** Authenticates bearer tokens. */
export class Authenticator {
  readonly #db: Database;
  readonly #log: Logger;
  readonly #bootstrapHash: Buffer | null;
  /** `invalidate` raises it, so that a look-up that began before is not cached afterwards. */
  #generation = 0;
  // Its time is performance.now(): a revoked key must not live longer because the clock is set back.
  readonly #cached = new LRUCache<string, { principal: Principal | null }>({ max: maxCached });
  readonly #touched = new LRUCache<string, true>({ max: maxCached, ttl: touchEveryMs });

  constructor(db: Database, log: Logger, bootstrapKey: string | null) {
    this.#db = db;
    this.#log = log;
    this.#bootstrapHash = bootstrapKey ? Buffer.from(sha256(bootstrapKey)) : null;
  }

  /** From now on revocations on other replicas take effect here. */
  start(): void {
    this.#db.listen(keysChannel, this.invalidate);
  }

  /** Empties the cache: a key was revoked, or a role changed. */
  readonly invalidate = (): void => {
    this.#generation++;
    this.#cached.clear();
  };

  /** Resolves to the principal of `token`; throws 401. */
  async authenticate(token: string | undefined): Promise<Principal> {
    if (token === undefined) throw unauthorized('An API key is required: Authorization: Bearer <API_KEY>.');
    const hash = sha256(token);
    if (this.#bootstrapHash && timingSafeEqual(Buffer.from(hash), this.#bootstrapHash)) return bootstrap;
    if (!isKeyValue(token)) throw unauthorized('The API key is not valid.');
    const { principal } = this.#cached.get(hash) ?? (await this.#lookUp(hash));
    if (!principal) throw unauthorized('The API key is not valid, was revoked, or has expired.');
    this.#touch(principal.keyId!);
    return principal;
  }

  async #lookUp(hash: string): Promise<{ principal: Principal | null }> {
    const generation = this.#generation;
    const queriedAt = performance.now();
    const key = await this.#db.run((executor) => findKeyByHash(executor, hash));
    const found = { principal: key ? principalOf(key) : null };
    const livesMs = (key?.expires_at?.getTime() ?? Number.POSITIVE_INFINITY) - Date.now();
    // The row is as old as the start of the query.
    const ttl = Math.floor(Math.min(cacheTtlMs, livesMs) - (performance.now() - queriedAt));
    if (generation === this.#generation && ttl > 0) this.#cached.set(hash, found, { ttl });
    return found;
  }

  #touch(keyId: string): void {
    if (this.#touched.has(keyId)) return;
    this.#touched.set(keyId, true);
    this.#db
      .run((executor) => touchKey(executor, keyId))
      .catch((error) => this.#log.debug({ error: messageOf(error) }, 'last_used_at was not written'));
  }
}
