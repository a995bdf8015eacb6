import type { PublicTrigger } from '../../../api/types.gen.ts';
import { triggerDetail as words } from '../../../text/en/trigger-detail.ts';
import { Time } from '../../../time/index.ts';
import { Emphasis, Words } from '../../../ui/index.ts';

/** Whether it receives events, and when the last one came. */
export const Lead = ({ trigger }: { trigger: PublicTrigger }) => {
  const { enabled, blocked_reason, kind, last_event_at, next_due_at } = trigger;
  const isBroker = kind === 'nats' || kind === 'kafka';
  return (
    <>
      {!enabled && (
        <>
          <Emphasis>{words.paused}</Emphasis> {isBroker ? words.pausedBroker : words.pausedWebhook}{' '}
        </>
      )}
      {enabled && blocked_reason !== null && (
        <>
          <Emphasis tone="missing">{words.blocked}</Emphasis> {blocked_reason}{' '}
        </>
      )}
      {last_event_at === null ? (
        words.noEvent
      ) : (
        <Words text={words.lastEvent} at={<Time at={last_event_at} form="relative" />} />
      )}{' '}
      {next_due_at !== null && <Words text={words.dueAt} at={<Time at={next_due_at} form="relative" />} />}
    </>
  );
};
