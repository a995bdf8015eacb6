import type { Totals } from './log/log.ts';

export type DeliveryState = 'delivering' | 'retrying' | 'paused' | 'disabled';

/** `GET /observability/integrations/{id}/health`: counts in spans, times RFC 3339 or null. */
export interface Health extends Totals {
  state: DeliveryState;
  backlog_age_seconds: number;
  last_success_at: string | null;
  last_error: string | null;
  next_attempt_at: string | null;
}
