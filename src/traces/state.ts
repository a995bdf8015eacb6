import type { z } from 'zod';
import type { Settings } from '../settings/index.ts';
import type { Health } from '../telemetry/index.ts';
import type { readStoreState } from './part-store.ts';
import type { storeState } from './schemas.ts';

/** A store that is further behind says so. A span is there in less than a second as a rule. */
const behindFrom = 10;

/** The state of the store. `health`: of the destination in the telemetry log; undefined before it was ever opened. */
export const storeStateOf = (
  setting: Settings['TRACE_STORE'],
  health: Health | undefined,
  { bytes, expired, oldest_at }: Awaited<ReturnType<typeof readStoreState>>,
): z.input<typeof storeState> => {
  const stored = health?.delivered ?? 0;
  const queued = health?.queued ?? 0;
  // What the log itself has expired was never stored.
  const dropped = health ? health.rejected + health.dead_lettered + health.expired + health.discarded : 0;
  const lag_seconds = health?.backlog_age_seconds ?? 0;
  const working = health?.state === 'retrying' ? 'failing' : lag_seconds > behindFrom ? 'behind' : 'on';
  return {
    state: setting === 'off' ? 'off' : working,
    accepted: stored + dropped + queued,
    stored,
    dropped,
    queued,
    expired,
    bytes,
    oldest_at,
    lag_seconds,
    last_error: health?.last_error ?? null,
  };
};
