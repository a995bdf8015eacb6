import type { Executor } from '../../database/index.ts';
import type { Attention } from '../../lib/attention.ts';
import { counted, isolate, sentence } from '../../lib/prose.ts';
import { LocalClock, lengthOf } from '../../lib/times.ts';
import { type IntegrationRow, listIntegrations } from './store.ts';

/** A backlog whose oldest span is older than this is behind. */
const behindAfterSeconds = 60;

const providerNames: Record<string, string> = {
  hosted_dashboard: 'Hosted dashboard',
  llm_tracing: 'LLM tracing',
  otlp_basic_auth: 'OTLP with basic authentication',
  otlp_custom_headers: 'OTLP with custom headers',
};

const nameOf = ({ description, provider }: Pick<IntegrationRow, 'description' | 'provider'>): string =>
  description || (providerNames[provider] ?? provider);

/** The delivery of an integration, over all replicas. */
export interface IntegrationState extends Omit<IntegrationRow, 'is_enabled' | 'oldest_at'> {
  name: string;
  state: 'delivering' | 'retrying' | 'paused' | 'disabled';
  backlog_age_seconds: number;
}

/** Returns how all integrations are doing, from what replicas last reported. */
export const readIntegrations = async (executor: Executor, now: number): Promise<IntegrationState[]> =>
  (await listIntegrations(executor)).map(({ is_enabled, oldest_at, ...row }) => ({
    ...row,
    name: nameOf(row),
    state: is_enabled ? (row.state ?? 'delivering') : 'disabled',
    backlog_age_seconds:
      oldest_at && row.queued > 0 ? Math.max(0, Math.round((now - oldest_at.getTime()) / 1000)) : 0,
  }));

const spans = (n: number): string => counted(n, 'span');

const stateLine = (one: IntegrationState, clock: LocalClock, now: number): Attention | null => {
  const { state, queued, backlog_age_seconds: age, last_error, next_attempt_at: next } = one;
  const isBehind = queued > 0 && age > behindAfterSeconds;
  const lag = lengthOf(age * 1000);
  const why = last_error ? `${sentence(last_error)} ` : '';
  const kept =
    queued === 0 ? '' : ` ${spans(queued)} ${queued === 1 ? 'is' : 'are'} queued; nothing is lost.`;
  const attempt = next
    ? `It is tried again at ${clock.near(next.getTime(), now)} (UTC).`
    : 'It is tried again.';
  const line = {
    count: 1,
    since: isBehind ? new Date(now - age * 1000) : one.last_error_at,
    subject: { type: 'integration' as const, id: one.id, name: one.name },
    filter: {},
  };
  if (state === 'paused') {
    return {
      ...line,
      kind: 'integration_paused',
      severity: 'error',
      title: `${isolate(one.name)} is paused`,
      detail: `${why}${attempt}${kept} It resumes when a test succeeds or after an edit.`,
    };
  }
  if (state === 'retrying' && isBehind) {
    return {
      ...line,
      kind: 'integration_retrying',
      severity: 'warning',
      title: `${isolate(one.name)} is retrying and ${lag} behind`,
      detail: `${why}${attempt}${kept}`,
    };
  }
  if (state !== 'delivering' || !isBehind) return null;
  return {
    ...line,
    kind: 'integration_behind',
    severity: 'warning',
    title: `${isolate(one.name)} is behind by ${lag}`,
    detail: `${why}${kept.trim()}`,
  };
};

const lostLines = (one: IntegrationState, from: Date): Attention[] => {
  const subject = { type: 'integration' as const, id: one.id, name: one.name };
  const lines: Attention[] = [];
  if (one.dead_lettered > 0) {
    lines.push({
      kind: 'dead_letters',
      severity: 'warning',
      count: one.dead_lettered,
      since: null,
      subject,
      title: `${isolate(one.name)} refused ${spans(one.dead_lettered)}`,
      detail: 'They are kept as dead letters, to be retried or purged.',
      filter: { tab: 'dead-letters' },
    });
  }
  if (one.expired_at && one.expired_at > from) {
    lines.push({
      kind: 'spans_expired',
      severity: 'error',
      count: one.expired,
      since: one.expired_at,
      subject,
      title: `Spans for ${isolate(one.name)} have expired`,
      detail: `${spans(one.expired)} in all were older than the retention of the telemetry log before they were delivered.`,
      filter: { tab: 'health' },
    });
  }
  return lines;
};

/** Integrations that do not deliver, are behind, or have lost spans since `from`. */
export const integrationAttention = (
  integrations: readonly IntegrationState[],
  from: Date,
  now: number,
): Attention[] => {
  const clock = new LocalClock('UTC', now);
  return integrations.flatMap((one) => [stateLine(one, clock, now) ?? [], lostLines(one, from)].flat());
};
