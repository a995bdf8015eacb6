import { countNames, type DeliveryCounters, zeroCounts } from '@agent-platform/otlp/log';
import type { DeliveryReport, DeliveryState } from '../delivery/report.ts';

/** Last report of another replica. `silent_ms`: its age. */
export interface OtherReport extends DeliveryReport {
  silent_ms: number;
}

/** `GET /observability/integrations/{id}/health`: counts in spans, times RFC 3339 or null. */
export interface Health extends DeliveryCounters {
  state: DeliveryState;
  backlog_age_seconds: number;
  last_success_at: string | null;
  last_error: string | null;
  next_attempt_at: string | null;
}

/** The health of an integration to which nothing was sent yet. */
export const unusedHealth: Health = {
  state: 'delivering',
  ...zeroCounts(),
  queued: 0,
  backlog_bytes: 0,
  backlog_age_seconds: 0,
  last_success_at: null,
  last_error: null,
  next_attempt_at: null,
};

/** Every replica reports each integration this often, so that a replica that is gone differs from an idle one. */
export const reportAgainMs = 60_000;
/** Time for which a report of a replica on its delivery holds. Its counts hold for ever. */
const liveMs = 3 * reportAgainMs;

const counterNames = [...countNames, 'queued', 'backlog_bytes'] as const;
const severity: Record<DeliveryState, number> = { paused: 3, retrying: 2, delivering: 1, disabled: 0 };

const iso = (time: Date | undefined): string | null => time?.toISOString() ?? null;
const inOrder = (times: (Date | null)[]): Date[] =>
  times.filter((time) => time !== null).sort((a, b) => a.getTime() - b.getTime());

/**
 * The health of an integration over all replicas. `own` first: it is the freshest. The worst state of those that
 * are alive counts, and its error is shown. Whether the integration is disabled is a setting, which `own` knows.
 */
export const healthOf = (own: DeliveryReport, others: readonly OtherReport[], now: number): Health => {
  const all: DeliveryReport[] = [own, ...others];
  const live = [own, ...others.filter(({ silent_ms }) => silent_ms < liveMs)].sort(
    (a, b) => severity[b.state] - severity[a.state],
  );
  const counters = Object.fromEntries(
    counterNames.map((name) => [name, all.reduce((sum, one) => sum + one[name], 0)]),
  ) as unknown as DeliveryCounters;
  const oldest = inOrder(all.map((one) => one.oldest_at))[0];
  const disabled = own.state === 'disabled';
  return {
    state: disabled ? 'disabled' : live[0]!.state,
    ...counters,
    backlog_age_seconds: oldest ? Math.max(0, Math.round((now - oldest.getTime()) / 1000)) : 0,
    last_success_at: iso(inOrder(all.map((one) => one.last_success_at)).at(-1)),
    last_error: live.find(({ last_error }) => last_error !== null)?.last_error ?? null,
    next_attempt_at: disabled ? null : iso(inOrder(live.map((one) => one.next_attempt_at))[0]),
  };
};
