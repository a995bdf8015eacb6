import { timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Services } from '../feature.ts';
import type { Credentials } from '../http/index.ts';
import { sha256 } from '../lib/crypto.ts';
import { ApiError, messageOf } from '../lib/errors.ts';
import { counter } from '../lib/metrics.ts';
import type { Principal } from '../lib/principal.ts';
import { AccessCache } from './cache.ts';
import { accessChannel } from './changed.ts';
import { type Cookies, sessionCookie } from './cookies.ts';
import { BootstrapUses } from './keys/bootstrap-uses.ts';
import { isKeyValue } from './keys/key-format.ts';
import { keyPrincipal } from './keys/key-principal.ts';
import { findKeyByHash, touchKey } from './keys/store.ts';
import type { Revalidation } from './sessions/revalidation.ts';
import { SessionAuthenticator } from './sessions/session-authenticator.ts';
import { keyOfSession, personOfSession } from './sessions/session-principal.ts';
import type { SessionOfRequest } from './sessions/store.ts';

/**
 * The precision of `last_used_at` in milliseconds, so that not every request writes. `touchKey` writes at most once a
 * minute; a little more, so that each of our calls writes.
 */
const touchEveryMs = 61_000;
const maxTouched = 10_000;

const unauthorized = (message: string) => new ApiError('unauthorized', message);

type FoundKey = ReturnType<typeof keyPrincipal> & {
  /** The rest of the key's life, in milliseconds. */
  livesMs: number;
};
const malformedKey: FoundKey = { refused: 'The API key is not valid.', livesMs: Number.POSITIVE_INFINITY };
const unknownKey: FoundKey = {
  refused: 'The API key is not valid, was revoked, or has expired.',
  livesMs: Number.POSITIVE_INFINITY,
};

export const bootstrap: Principal = {
  kind: 'service_account',
  id: 'bootstrap',
  rootId: 'bootstrap',
  name: 'bootstrap administrator',
  role: 'admin',
  keyId: 'bootstrap',
  scopes: null,
  sessionId: null,
};

type Client = Pick<Credentials, 'ip' | 'userAgent'>;

interface AuthenticatorParts extends Pick<Services, 'db' | 'log' | 'settings' | 'clock'> {
  cookies: Cookies;
  /** The SHA-256 of the bootstrap key, if there is one. */
  bootstrapHash: string | null;
  /** Null without a provider. */
  revalidation: Revalidation | null;
}

/** Authenticates bearer tokens and the cookies of sessions. */
export class Authenticator {
  readonly #parts: AuthenticatorParts;
  readonly #keys = new AccessCache<FoundKey>();
  readonly #sessions: SessionAuthenticator;
  readonly #bootstrapHash: Buffer | null;
  readonly #bootstrapUses: BootstrapUses;
  readonly #touched = new LRUCache<string, true>({ max: maxTouched, ttl: touchEveryMs });
  readonly #crossSiteRequests = counter(
    'agent_platform_cross_site_requests_total',
    'Requests whose session cookie did not count, because they came from a page of another site',
  );
  readonly metrics = [this.#crossSiteRequests];

  constructor(parts: AuthenticatorParts) {
    this.#parts = parts;
    this.#bootstrapHash = parts.bootstrapHash === null ? null : Buffer.from(parts.bootstrapHash);
    this.#bootstrapUses = new BootstrapUses(parts.db, parts.log, parts.clock);
    this.#sessions = new SessionAuthenticator({
      ...parts,
      principalOf: (session) => this.#principalOfSession(session),
    });
    parts.settings.onChange(this.invalidate);
  }

  /** From now on revocations on other replicas take effect here. */
  start(): void {
    this.#parts.db.listen(accessChannel, this.invalidate);
  }

  /** Empties the caches: a key was revoked, a session ended, or a role changed. */
  readonly invalidate = (): void => {
    this.#keys.clear();
    this.#sessions.invalidate();
  };

  /**
   * Resolves to the principal of the bearer token or, without the header `Authorization`, of the session's cookie.
   * Throws 401, and 403 for a cookie in a request from another site.
   */
  async authenticate(credentials: Credentials): Promise<Principal> {
    const { token, cookie, ownPage, recheck = false } = credentials;
    if (token !== undefined) return this.authenticateKey(token, credentials);
    const value = this.#parts.cookies.read(cookie, sessionCookie);
    if (value === undefined) {
      throw unauthorized('Sign in, or send an API key: Authorization: Bearer <API_KEY>.');
    }
    if (!ownPage) throw this.refuseCrossSite();
    return this.#noted(await this.#sessions.authenticate(value, !recheck), credentials);
  }

  /** Counts a request from another site, and returns its 403. */
  refuseCrossSite(): ApiError {
    this.#crossSiteRequests.inc();
    return new ApiError(
      'forbidden',
      'This request came from another site. Sessions count only in requests of the application itself: open it, or use an API key.',
    );
  }

  /** Resolves to the principal of the key `value`, which `client` sent; throws 401. */
  async authenticateKey(value: string, client: Client): Promise<Principal> {
    const hash = sha256(value);
    if (this.isBootstrapHash(hash)) return this.#noted(bootstrap, client);
    const found = await this.#keys.get(
      hash,
      () => this.#lookUp(value, hash),
      ({ livesMs }) => livesMs,
    );
    if ('refused' in found) throw unauthorized(found.refused);
    this.#touch(found.principal.keyId!, client.ip);
    return found.principal;
  }

  /** Returns whether `hash` is the SHA-256 of the bootstrap key. */
  isBootstrapHash(hash: string): boolean {
    return this.#bootstrapHash !== null && timingSafeEqual(Buffer.from(hash), this.#bootstrapHash);
  }

  /** Returns `principal`, and notes a use of the bootstrap key. */
  #noted(principal: Principal, { ip, userAgent }: Client): Principal {
    if (principal.id === bootstrap.id) {
      this.#bootstrapUses.note({ principal, requestId: null, ip: ip(), userAgent });
    }
    return principal;
  }

  #principalOfSession(session: SessionOfRequest): Principal | null {
    if (session.bootstrap_hash !== null) {
      return this.isBootstrapHash(session.bootstrap_hash) ? bootstrap : null;
    }
    if (session.method === 'oidc') return personOfSession(session);
    const found = keyPrincipal(keyOfSession(session), this.#confirmationDays);
    return 'principal' in found ? found.principal : null;
  }

  get #confirmationDays(): number {
    return this.#parts.settings.get().PERSONAL_KEY_CONFIRMATION_DAYS;
  }

  async #lookUp(value: string, hash: string): Promise<FoundKey> {
    if (!isKeyValue(value)) return malformedKey;
    const key = await this.#parts.db.run((executor) => findKeyByHash(executor, hash));
    if (!key) return unknownKey;
    const found = keyPrincipal(key, this.#confirmationDays);
    const expires = 'principal' in found ? key.expires_in_ms : null;
    return { ...found, livesMs: expires ?? Number.POSITIVE_INFINITY };
  }

  #touch(keyId: string, ip: () => string): void {
    if (this.#touched.has(keyId)) return;
    this.#touched.set(keyId, true);
    const { db, log } = this.#parts;
    db.run((executor) => touchKey(executor, keyId, ip())).catch((error) =>
      log.debug({ error: messageOf(error) }, 'last_used_at was not written'),
    );
  }
}
