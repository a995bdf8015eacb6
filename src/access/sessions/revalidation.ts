import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Tx } from '../../database/index.ts';
import { unavailable } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import { systemActor } from '../../lib/principal.ts';
import { withTimeout } from '../../lib/with-timeout.ts';
import type { CurrentSettings } from '../../settings/index.ts';
import type { Identities } from '../people/identity.ts';
import type { IdentityProvider, RefreshResult } from '../sign-in/provider.ts';
import {
  claimLease,
  isRevalidationDue,
  type LeasedSession,
  updateConfirmed,
  updateRetry,
} from './lease-store.ts';
import type { Sessions } from './sessions.ts';

/** A replica that dies while it asks the provider leaves a lease that ends after this time. */
const leaseSeconds = 30;
const retrySeconds = 60;
const pollEveryMs = 100;
const waitAtMostMs = 10_000;

const noOutcome = () =>
  unavailable('The identity provider has not confirmed the session yet. Try again in a moment.', 2);

export interface RevalidationParts {
  db: Database;
  log: Logger;
  settings: CurrentSettings;
  sessions: Sessions;
  identities: Identities;
  provider: IdentityProvider;
}

/**
 * Asks the provider to confirm the person of a session, once over all replicas: the replica that gets the lease asks, the
 * others wait for the outcome. No transaction is open in the meantime. A refresh token may be good for one use only, so two
 * requests at once would end the session.
 */
export class Revalidation {
  readonly #parts: RevalidationParts;
  readonly #running = new Map<string, Promise<void>>();

  constructor(parts: RevalidationParts) {
    this.#parts = parts;
  }

  /**
   * Resolves when the provider was asked about the session: afterwards the session is confirmed, to be asked about
   * later, or deleted. Throws 503 if there is no outcome within 10 s.
   */
  run(id: string): Promise<void> {
    const running = this.#running.get(id);
    if (running) return withTimeout(running, waitAtMostMs, noOutcome);
    const begun = this.#claimOrWait(id).finally(() => this.#running.delete(id));
    this.#running.set(id, begun);
    return begun;
  }

  async #claimOrWait(id: string): Promise<void> {
    const { db, settings } = this.#parts;
    const deadline = performance.now() + waitAtMostMs;
    for (;;) {
      const revalidationSeconds = settings.get().SESSION_REVALIDATION_SECONDS;
      const leased = await db.run((executor) =>
        claimLease(executor, id, randomUUID(), { leaseSeconds, revalidationSeconds }),
      );
      if (leased) return this.#refresh(leased);
      if (!(await db.run((executor) => isRevalidationDue(executor, id, revalidationSeconds)))) return;
      if (performance.now() >= deadline) throw noOutcome();
      await sleep(pollEveryMs);
    }
  }

  async #refresh(session: LeasedSession): Promise<void> {
    const { db, log, sessions, provider } = this.#parts;
    const { id, issuer, subject } = session;
    const refreshToken = sessions.open(session.refreshToken, 'refresh_token', id);
    const idToken = sessions.open(session.idToken, 'id_token', id);
    const result = await provider.refresh(refreshToken, { issuer, subject, idToken });
    if (result.outcome !== 'confirmed') {
      log.info(
        { session_id: id, outcome: result.outcome, reason: result.reason },
        'a session was not confirmed',
      );
    }
    await db.tx((tx) => this.#apply(tx, session, result));
    sessions.onChange();
  }

  async #apply(tx: Tx, session: LeasedSession, result: RefreshResult): Promise<void> {
    const { sessions, identities } = this.#parts;
    const { id, leaseToken, userId } = session;
    if (result.outcome === 'unavailable') {
      const { refreshToken = null } = result;
      return updateRetry(tx, session, retrySeconds, sessions.seal(refreshToken, 'refresh_token', id));
    }
    if (result.outcome === 'ended') {
      const details = { cause: result.reason };
      await sessions.end(tx, systemActor, { id, leaseToken }, 'provider_refused', details);
      return;
    }
    const { identity, tokens } = result;
    const confirmed = await identities.confirm(tx, systemActor, userId, identity);
    if (confirmed.user === null) {
      const { reason } = confirmed.refusal;
      const why = reason === 'no_role' ? 'role_lost' : 'provider_refused';
      await sessions.end(tx, systemActor, { id }, why, { cause: reason });
      return;
    }
    await updateConfirmed(tx, session, {
      idToken: sessions.seal(tokens.idToken, 'id_token', id),
      refreshToken: sessions.seal(tokens.refreshToken, 'refresh_token', id),
    });
  }
}
