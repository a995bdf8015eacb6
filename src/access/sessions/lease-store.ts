import { type Executor, type RawBuilder, sql, type Tx } from '../../database/index.ts';
import { secondsAgo } from './store.ts';

/** A session whose provider is asked, by the holder of the lease. */
export interface LeasedSession {
  id: string;
  leaseToken: string;
  userId: string;
  /** Sealed, like the refresh token. */
  idToken: string | null;
  refreshToken: string;
  issuer: string;
  subject: string;
}

/** The condition that the provider must be asked about the session `s`. */
const isDue = (revalidationSeconds: number): RawBuilder<boolean> =>
  sql<boolean>`(s.refresh_token is not null and s.confirmed_at <= ${secondsAgo(revalidationSeconds)}
    and (s.retry_at is null or s.retry_at <= platform_now()))`;

/**
 * Takes the lease of a session that was confirmed at least `revalidationSeconds` ago, for `leaseSeconds`. Returns
 * undefined if the provider need not be asked, or if another holds the lease.
 */
export const claimLease = async (
  executor: Executor,
  id: string,
  leaseToken: string,
  { leaseSeconds, revalidationSeconds }: { leaseSeconds: number; revalidationSeconds: number },
): Promise<LeasedSession | undefined> =>
  (
    await sql<LeasedSession>`update sessions s
      set lease_token = ${leaseToken}, lease_until = platform_now() + make_interval(secs => ${leaseSeconds})
      from users u
      where s.id = ${id} and u.id = s.user_id and u.issuer is not null and ${isDue(revalidationSeconds)}
        and (s.lease_until is null or s.lease_until <= platform_now())
      returning s.id, s.lease_token as "leaseToken", s.user_id as "userId", s.id_token as "idToken",
        s.refresh_token as "refreshToken", u.issuer, u.subject`.execute(executor)
  ).rows[0];

/** Resolves to whether the provider must still be asked about the session; false if the session has ended. */
export const isRevalidationDue = async (
  executor: Executor,
  id: string,
  revalidationSeconds: number,
): Promise<boolean> =>
  (await executor
    .selectFrom('sessions as s')
    .select('s.id')
    .where('s.id', '=', id)
    .where(isDue(revalidationSeconds))
    .executeTakeFirst()) !== undefined;

/**
 * Ends the lease of a session that the provider confirmed, and stores its new tokens, sealed.
 * Does nothing if the lease was lost.
 */
export const updateConfirmed = async (
  tx: Tx,
  { id, leaseToken }: LeasedSession,
  tokens: { idToken: string | null; refreshToken: string | null },
): Promise<void> => {
  await sql`update sessions set confirmed_at = platform_now(), lease_token = null, lease_until = null, retry_at = null,
      id_token = ${tokens.idToken}, refresh_token = ${tokens.refreshToken}
    where id = ${id} and lease_token = ${leaseToken}`.execute(tx);
};

/**
 * Ends the lease of a session whose provider neither confirmed nor refused it: it is asked again after `seconds`.
 * `refreshToken` (sealed) replaces the stored one unless it is null.
 */
export const updateRetry = async (
  tx: Tx,
  { id, leaseToken }: LeasedSession,
  seconds: number,
  refreshToken: string | null,
): Promise<void> => {
  await sql`update sessions set lease_token = null, lease_until = null,
      refresh_token = coalesce(${refreshToken}, refresh_token), retry_at = platform_now() + make_interval(secs => ${seconds})
    where id = ${id} and lease_token = ${leaseToken}`.execute(tx);
};
