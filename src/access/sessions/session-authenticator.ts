import type { Database } from '../../database/index.ts';
import { sha256 } from '../../lib/crypto.ts';
import { ApiError, messageOf } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import type { Principal } from '../../lib/principal.ts';
import type { CurrentSettings } from '../../settings/index.ts';
import { AccessCache } from '../cache.ts';
import { endsAt, revalidatesAt, touchEverySeconds } from './lifetime.ts';
import type { Revalidation } from './revalidation.ts';
import { isSessionValue } from './sessions.ts';
import { deleteSession, findSessionOfRequest, type SessionOfRequest, touchSession } from './store.ts';

const ended = () => new ApiError('unauthorized', 'The session has ended. Sign in again.');

/** A session as it was looked up. */
interface FoundSession {
  principal: Principal;
  /** The time of the last request, by performance.now(). */
  seenAt: number;
  /** The time after the look-up for which this holds, in milliseconds; 0 or less: the provider must be asked first. */
  validForMs: number;
}

const unknown = { principal: null, validForMs: Number.POSITIVE_INFINITY } as const;

export interface SessionAuthenticatorParts {
  db: Database;
  log: Logger;
  settings: CurrentSettings;
  /** Returns who acts in the session; null if its person or its key may not. */
  principalOf: (session: SessionOfRequest) => Principal | null;
  /** Null without a provider. */
  revalidation: Revalidation | null;
}

/** Authenticates sessions by the value of their cookie. */
export class SessionAuthenticator {
  readonly #parts: SessionAuthenticatorParts;
  readonly #cache = new AccessCache<FoundSession | typeof unknown>();

  constructor(parts: SessionAuthenticatorParts) {
    this.#parts = parts;
  }

  invalidate(): void {
    this.#cache.clear();
  }

  /**
   * Resolves to the principal of the session; throws 401, or 503 if the provider must be asked first and there is no
   * outcome. `isRequest`: the session is in use, so its idle time begins again.
   */
  async authenticate(value: string, isRequest: boolean): Promise<Principal> {
    if (!isSessionValue(value)) throw ended();
    const hash = sha256(value);
    const find = () =>
      this.#cache.get(
        hash,
        () => this.#lookUp(hash),
        ({ validForMs }) => validForMs,
      );
    let session = await find();
    if (session.principal && session.validForMs <= 0) {
      await this.#parts.revalidation?.run(session.principal.sessionId!);
      session = await find();
    }
    if (!session.principal) throw ended();
    if (isRequest) this.#touch(session);
    return session.principal;
  }

  async #lookUp(hash: string): Promise<FoundSession | typeof unknown> {
    const { db, settings, principalOf, revalidation } = this.#parts;
    const queriedAt = performance.now();
    const session = await db.run((executor) => findSessionOfRequest(executor, hash));
    if (!session) return unknown;
    const limits = settings.get();
    const now = session.now.getTime();
    const livesMs = endsAt(session, limits).getTime() - now;
    const principal = livesMs > 0 ? principalOf(session) : null;
    if (!principal) {
      this.#delete(session.id);
      return unknown;
    }
    const confirmedForMs = revalidation ? revalidatesAt(session, limits) - now : Number.POSITIVE_INFINITY;
    const keyLivesMs = session.expires_in_ms ?? Number.POSITIVE_INFINITY;
    return {
      principal: { ...principal, sessionId: session.id },
      seenAt: queriedAt - (now - session.last_seen_at.getTime()),
      validForMs: Math.min(livesMs, confirmedForMs, keyLivesMs),
    };
  }

  #touch(session: FoundSession): void {
    const { db, log, settings } = this.#parts;
    const everySeconds = touchEverySeconds(settings.get());
    const now = performance.now();
    if (now - session.seenAt < everySeconds * 1000) return;
    session.seenAt = now;
    db.run((executor) => touchSession(executor, session.principal.sessionId!, everySeconds)).catch((error) =>
      log.debug({ error: messageOf(error) }, 'last_seen_at was not written'),
    );
  }

  /** Deletes a session that has ended: it stays ended, also if a limit is raised or its key works again. */
  #delete(id: string): void {
    const { db, log } = this.#parts;
    db.run((executor) => deleteSession(executor, id)).catch((error) =>
      log.debug({ error: messageOf(error) }, 'an ended session was not deleted'),
    );
  }
}
