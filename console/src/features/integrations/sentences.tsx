import type { ReactNode } from 'react';
import type { ShownIntegration } from '../../api/types.gen.ts';
import { integrations as words } from '../../text/en/integrations.ts';
import { Time } from '../../time/index.ts';
import { Emphasis, type Outcome, Words } from '../../ui/index.ts';

/** From this lag in seconds an integration that delivers is behind. */
const behindFrom = 60;

export type ShownState = keyof typeof words.states;

/** The state as people name it: an integration that delivers may be behind. */
export const stateOf = ({ health }: ShownIntegration): ShownState =>
  health.state === 'delivering' && health.backlog_age_seconds >= behindFrom ? 'behind' : health.state;

export const kindOf: Record<ShownState, Outcome> = {
  delivering: 'on-time',
  behind: 'late',
  retrying: 'late',
  paused: 'missing',
  disabled: 'skipped',
};

/** The host of an address, or all of it if it has none: a placeholder may stand for it. */
export const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url);

/** Description, or the provider and the host. */
export const titleOf = ({ description, settings, resolved_url }: ShownIntegration): string =>
  description || words.titleOf(words.providers[settings.provider], hostOf(resolved_url ?? settings.url));

/** State, backlog and next attempt, as sentences. */
export const StateSentence = ({ integration }: { integration: ShownIntegration }): ReactNode => {
  const { queued, backlog_age_seconds, last_error, next_attempt_at, last_success_at } = integration.health;
  const state = stateOf(integration);
  if (state === 'disabled') return words.off;
  const waiting = queued > 0 ? words.waits(queued) : words.nothingWaits;
  if (state === 'delivering') {
    return `${words.delivering} ${last_success_at ? waiting : words.neverDelivered}`;
  }
  if (state === 'behind') {
    return (
      <>
        <Emphasis tone="late">{words.behind(backlog_age_seconds)}</Emphasis> {waiting}
      </>
    );
  }
  return (
    <>
      <Emphasis tone={state === 'paused' ? 'missing' : 'late'}>{words[state]}</Emphasis>{' '}
      {last_error && `${words.reason(last_error)}. `}
      {waiting}{' '}
      {next_attempt_at && (
        <Words text={words.nextAttempt} at={<Time at={next_attempt_at} form="relative" />} />
      )}{' '}
      {state === 'paused' && words.resumes}
    </>
  );
};
