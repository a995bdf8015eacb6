import type { DeliveryCounters } from '@agent-platform/otlp/log';

export type DeliveryState = 'delivering' | 'retrying' | 'paused' | 'disabled';

/** Report of one replica's telemetry log and delivery on one integration: a row of `telemetry_accounts`. */
export interface DeliveryReport extends DeliveryCounters {
  number: number;
  state: DeliveryState;
  /** Time at which the oldest queued span was accepted. */
  oldest_at: Date | null;
  last_success_at: Date | null;
  /** Scrubbed: it can be shown to users. */
  last_error: string | null;
  next_attempt_at: Date | null;
}

/** The part of a report that is about the backend. */
export type BackendReport = Pick<
  DeliveryReport,
  'state' | 'last_success_at' | 'last_error' | 'next_attempt_at'
>;
