import { timingSafeEqual } from 'node:crypto';
import { type Database, notify, type Tx } from '../database/index.ts';
import { sha256 } from '../lib/crypto.ts';
import { ApiError, messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import type { Principal } from '../lib/principal.ts';
import { isKeyValue } from './key-format.ts';
import { findKeyByHash, type ShownKey, touchKey } from './store.ts';

/** The channel on which replicas hear that a key was revoked or a person's role changed. */
const keysChannel = 'api_keys';

/** How long a looked-up key is believed: the most that a revocation whose notification was lost can live on. */
const believedForMs = 900;
const maxRemembered = 10_000;
/** `last_used_at` is this exact, so that reading does not mean writing each time. */
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

/** Turns a bearer token into a principal. */
export class Authenticator {
  readonly #db: Database;
  readonly #log: Logger;
  readonly #bootstrapHash: Buffer | null;
  /** Raised by `forget`, so that a look-up from before it is not remembered after it. */
  #forgotten = 0;
  /** `until` by performance.now(): a clock that goes back must not prolong a revoked key's life. */
  readonly #remembered = new Map<string, { principal: Principal | null; until: number }>();
  readonly #touched = new Map<string, number>();

  constructor(db: Database, log: Logger, bootstrapKey: string | null) {
    this.#db = db;
    this.#log = log;
    this.#bootstrapHash = bootstrapKey ? Buffer.from(sha256(bootstrapKey)) : null;
    db.listen(keysChannel, () => this.forget());
  }

  /** Ask the database again for every key: one was revoked, or a role changed. */
  forget(): void {
    this.#forgotten++;
    this.#remembered.clear();
  }

  /** Say to every replica that a key was revoked, when `tx` commits. */
  static revoked = (tx: Tx): Promise<void> => notify(tx, keysChannel);

  /** Who `token` stands for; throws 401. */
  async authenticate(token: string | undefined): Promise<Principal> {
    if (token === undefined) throw unauthorized('An API key is required: Authorization: Bearer <API_KEY>.');
    const hash = sha256(token);
    if (this.#bootstrapHash && timingSafeEqual(Buffer.from(hash), this.#bootstrapHash)) return bootstrap;
    if (!isKeyValue(token)) throw unauthorized('The API key is not valid.');
    const remembered = this.#remembered.get(hash);
    let principal: Principal | null;
    if (remembered && performance.now() < remembered.until) principal = remembered.principal;
    else {
      const asked = performance.now();
      const forgotten = this.#forgotten;
      const key = await this.#db.run((executor) => findKeyByHash(executor, hash));
      principal = key ? principalOf(key) : null;
      if (this.#remembered.size >= maxRemembered) this.#remembered.clear();
      if (forgotten === this.#forgotten) {
        const lives = (key?.expires_at?.getTime() ?? Number.POSITIVE_INFINITY) - Date.now();
        this.#remembered.set(hash, { principal, until: asked + Math.min(believedForMs, lives) });
      }
    }
    if (!principal) throw unauthorized('The API key is not valid, was revoked, or has expired.');
    this.#touch(principal.keyId!);
    return principal;
  }

  #touch(keyId: string): void {
    const now = Date.now();
    if (now - (this.#touched.get(keyId) ?? 0) < touchEveryMs) return;
    if (this.#touched.size >= maxRemembered) this.#touched.clear();
    this.#touched.set(keyId, now);
    this.#db
      .run((executor) => touchKey(executor, keyId))
      .catch((error) => this.#log.debug({ error: messageOf(error) }, 'last_used_at was not written'));
  }
}
