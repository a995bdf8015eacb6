import type { ReactNode } from 'react';
import type { UsedToolServer } from '../../api/types.gen.ts';
import { toolServers as words } from '../../text/en/tool-servers.ts';
import { Time } from '../../time/index.ts';
import { Emphasis, type Outcome, Words } from '../../ui/index.ts';

export const kindOf = { ok: 'on-time', failing: 'missing', unknown: 'due' } as const satisfies Record<
  UsedToolServer['state'],
  Outcome
>;

/** Number of tools that agents do not get because no one has accepted them as they are now. */
export const waitingOf = ({ changed_count, new_count }: UsedToolServer): number => changed_count + new_count;

export const StateSentence = ({ server }: { server: UsedToolServer }): ReactNode => {
  const { state, last_error, last_checked_at, enabled, warnings } = server;
  const waiting = waitingOf(server);
  return (
    <>
      {!enabled && <Emphasis tone="late">{words.turnedOff}</Emphasis>}{' '}
      {state === 'failing' ? (
        <Emphasis tone="missing">{words.fails(last_error ?? '')}</Emphasis>
      ) : state === 'ok' ? (
        words.responds
      ) : (
        words.unknown
      )}{' '}
      {last_checked_at && <Words text={words.checked} at={<Time at={last_checked_at} form="relative" />} />}{' '}
      {warnings.length > 0 && <Emphasis tone="late">{warnings.join(' ')}</Emphasis>}{' '}
      {waiting > 0 && <Emphasis tone="late">{words.waiting(waiting)}</Emphasis>}
    </>
  );
};
