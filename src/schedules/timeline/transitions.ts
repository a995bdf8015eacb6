import { openZone, shownOffset } from '@agent-platform/cron';
import { localDate, localTime } from '../../lib/times.ts';

/** A change of the clocks of a zone. */
export interface ZoneTransition {
  at: Date;
  zone: string;
  kind: 'gap' | 'repeat';
  offset_before: string;
  offset_after: string;
  /** Change of the clocks, in a sentence. */
  text: string;
}

/** The changes of the clocks of these zones in [from, to), in milliseconds since 1970, oldest first. */
export const transitionsOf = (zones: Iterable<string>, from: number, to: number): ZoneTransition[] => {
  const found: ZoneTransition[] = [];
  for (const name of new Set(zones)) {
    let zone: ReturnType<typeof openZone>;
    try {
      zone = openZone(name);
    } catch {
      continue;
    }
    for (const { at, before, after } of zone.transitions(from, to)) {
      const [left, entered] = [localTime(at + before), localTime(at + after)];
      const on = `On ${localDate(at + before, Number.NaN)} the clock in ${name} goes`;
      const forward = after > before;
      found.push({
        at: new Date(at),
        zone: name,
        kind: forward ? 'gap' : 'repeat',
        offset_before: shownOffset(before),
        offset_after: shownOffset(after),
        text: forward
          ? `${on} from ${left} to ${entered}: the times between do not exist.`
          : `${on} back from ${left} to ${entered}: the times between come twice.`,
      });
    }
  }
  return found.sort((a, b) => a.at.getTime() - b.at.getTime());
};
