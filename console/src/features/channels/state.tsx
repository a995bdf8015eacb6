import type { Channel } from '../../api/types.gen.ts';
import { channels as words } from '../../text/en/channels.ts';
import { Time } from '../../time/index.ts';
import { Emphasis, type Outcome, OutcomeTag, Words } from '../../ui/index.ts';

const marks = { ok: 'on-time', failing: 'missing', unknown: 'due' } as const satisfies Record<
  Channel['state'],
  Outcome
>;

export const StateTag = ({ channel: { enabled, state } }: { channel: Channel }) => (
  <OutcomeTag kind={enabled ? marks[state] : 'skipped'}>
    {enabled ? words.states[state] : words.off}
  </OutcomeTag>
);

/** Where a channel leads, if its settings say so. */
export const placeOf = (channel: Channel): string => {
  switch (channel.kind) {
    case 'slack':
      return channel.conversation ?? '';
    case 'email':
      return channel.smtp_host;
    case 'webhook':
      return new URL(channel.url).host;
    case 'teams':
      return channel.host;
    case 'pagerduty':
      return '';
  }
};

export const StateSentence = ({ channel }: { channel: Channel }) => {
  const { enabled, state, last_error, last_success_at } = channel;
  return (
    <>
      {words.isKind[channel.kind]} {!enabled && <Emphasis tone="late">{words.isOff}</Emphasis>}{' '}
      {state === 'failing' ? (
        <Emphasis tone="missing">{words.fails(last_error ?? '')}</Emphasis>
      ) : state === 'ok' ? (
        words.works
      ) : (
        words.unknown
      )}{' '}
      {last_success_at && <Words text={words.succeeded} at={<Time at={last_success_at} form="relative" />} />}
    </>
  );
};
