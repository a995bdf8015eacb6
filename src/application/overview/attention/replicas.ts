import type { Scheduling } from '../../../replicas/index.ts';
import { LocalClock } from '../../../schedules/index.ts';
import type { Attention, AttentionKind } from './attention.ts';

/** For each role of replicas whether one is alive, and when one was last seen. */
export interface RoleState {
  role: string;
  alive: boolean;
  last_at: Date | null;
}

const lineOf = (
  kind: AttentionKind,
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

/** No replica schedules, works or delivers. */
export const replicaAttention = (roles: readonly RoleState[], scheduling: Scheduling): Attention[] => {
  const now = scheduling.now.getTime();
  const stateOf = (role: string) => roles.find((one) => one.role === role) ?? { alive: false, last_at: null };
  const [worker, delivery] = [stateOf('worker'), stateOf('delivery')];
  return [
    ...(scheduling.alive
      ? []
      : [
          lineOf(
            'no_scheduler',
            'No replica is scheduling',
            scheduling.last_at,
            'No schedule fires; what falls due waits.',
            now,
          ),
        ]),
    ...(worker.alive
      ? []
      : [
          lineOf(
            'no_worker',
            'No replica executes Work Items',
            worker.last_at,
            'Only external workers do; the others wait.',
            now,
          ),
        ]),
    ...(delivery.alive
      ? []
      : [
          lineOf(
            'no_delivery',
            'No replica delivers traces',
            delivery.last_at,
            'Spans and callbacks wait; nothing is lost.',
            now,
          ),
        ]),
  ];
};
