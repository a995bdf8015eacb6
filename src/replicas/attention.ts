import type { Attention } from '../lib/attention.ts';
import { LocalClock } from '../lib/times.ts';
import type { RoleState, Scheduling } from './store.ts';

const lineOf = (
  kind: Attention['kind'],
  title: string,
  last: Date | null,
  effect: string,
  now: number,
): Attention => {
  const clock = new LocalClock('UTC', now);
  const when = last
    ? `The last one was seen at ${clock.near(last.getTime(), now)} (UTC).`
    : 'None was ever seen.';
  return {
    kind,
    severity: 'error',
    count: 1,
    since: last,
    subject: null,
    title,
    detail: `${when} ${effect}`,
    filter: {},
  };
};

/** Returns the warnings that no replica schedules, works or delivers. */
export const replicaAttention = (roles: readonly RoleState[], scheduling: Scheduling): Attention[] => {
  const now = scheduling.now.getTime();
  const stateOf = (role: string) => roles.find((one) => one.role === role) ?? { alive: false, last_at: null };
  const [worker, delivery] = [stateOf('worker'), stateOf('delivery')];
  const lines = [
    [scheduling, 'no_scheduler', 'No replica is scheduling', 'No schedule fires; what falls due waits.'],
    [worker, 'no_worker', 'No replica executes Work Items', 'Only external workers do; the others wait.'],
    [delivery, 'no_delivery', 'No replica delivers traces', 'Spans and callbacks wait; nothing is lost.'],
  ] as const;
  return lines.flatMap(([state, kind, title, effect]) =>
    state.alive ? [] : lineOf(kind, title, state.last_at, effect, now),
  );
};
