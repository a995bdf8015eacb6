import type { Settings } from '../../settings/index.ts';
import type { SessionOfRequest, SessionRow } from './store.ts';

/** The settings that limit sessions, in seconds. */
export type Limits = Pick<
  Settings,
  'SESSION_IDLE_SECONDS' | 'SESSION_MAX_SECONDS' | 'SESSION_REVALIDATION_SECONDS'
>;

/** When a session ends by time: without requests, or by its age. */
export const endsAt = (
  { created_at, last_seen_at }: Pick<SessionRow, 'created_at' | 'last_seen_at'>,
  limits: Limits,
): Date =>
  new Date(
    Math.min(
      created_at.getTime() + limits.SESSION_MAX_SECONDS * 1000,
      last_seen_at.getTime() + limits.SESSION_IDLE_SECONDS * 1000,
    ),
  );

/** Returns the precision of `last_seen_at` in seconds: not every request writes, and no session ends much too early. */
export const touchEverySeconds = ({ SESSION_IDLE_SECONDS }: Limits): number =>
  Math.min(60, SESSION_IDLE_SECONDS / 10);

/** When the provider is asked next, in milliseconds since 1970; Infinity if it cannot be asked. */
export const revalidatesAt = (
  { confirmed_at, retry_at, has_refresh_token }: SessionOfRequest,
  limits: Limits,
): number =>
  has_refresh_token
    ? Math.max(confirmed_at.getTime() + limits.SESSION_REVALIDATION_SECONDS * 1000, retry_at?.getTime() ?? 0)
    : Number.POSITIVE_INFINITY;
