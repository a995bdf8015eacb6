import type { Occurrences } from '@agent-platform/cron';
import { openZone, type Transition, type Zone } from '@agent-platform/cron';
import { unprocessable } from '../../lib/errors.ts';
import { type LocalClock, localDate, localTime } from '../../lib/times.ts';

const minute = 60_000;

/** The minute that someone asks about. Times in milliseconds since 1970; local ones as if they were UTC. */
export interface Moment {
  /** Beginning of the minute; for a local time that the clock skips, the first instant after it. */
  at: number;
  local: number;
  /** The jump that skips it; null if the clock shows it. */
  skippedBy: Transition | null;
  /** The instants at which the clock shows this local time. */
  shownAt: readonly number[];
}

const zoneOf = (timezone: string): Zone => {
  try {
    return openZone(timezone);
  } catch {
    const message = 'must have an offset, because the time zone of the schedule is not known any more';
    throw unprocessable([{ path: 'at', message }]);
  }
};

/**
 * Reads an instant, or a local time of the zone if it has no offset: then of two instants that it may mean the first.
 * Throws 422 for a local time of a zone that is not known.
 */
export const readMoment = (asked: string, timezone: string): Moment => {
  if (/(?:Z|[+-]\d\d:?\d\d)$/.test(asked)) {
    const at = Math.floor(Date.parse(asked) / minute) * minute;
    try {
      const zone = openZone(timezone);
      const local = at + zone.offsetAt(at);
      return { at, local, skippedBy: null, shownAt: zone.instantsOf(local) };
    } catch {
      return { at, local: at, skippedBy: null, shownAt: [at] };
    }
  }
  const zone = zoneOf(timezone);
  const local = Math.floor(Date.parse(`${asked}Z`) / minute) * minute;
  const shownAt = zone.instantsOf(local);
  const skippedBy = shownAt.length === 0 ? zone.jumpOver(local) : null;
  return { at: shownAt[0] ?? skippedBy?.at ?? local, local, skippedBy, shownAt };
};

/** Returns whether a schedule fires at the end of the jump that skips the moment, because of the moment. */
export const firesFor = ({ at, local, skippedBy }: Moment, occurrences: Occurrences | null): boolean =>
  skippedBy !== null && occurrences?.matches(local) === true && occurrences.explain(at).dst === 'gap';

/** `Fri 20 Nov 02:58` of the moment that someone asked about. */
export const shownMoment = ({ at, local, skippedBy }: Moment, clock: LocalClock): string =>
  skippedBy ? `${localDate(local, clock.year)} ${localTime(local)}` : clock.moment(at);

/** `the clock went from 02:00 to 03:00`, with dates if it jumps over a whole day. */
const jumpText = ({ at, before, after }: Transition, { year }: LocalClock): string => {
  const isLong = after - before >= 24 * 60 * minute;
  const shown = (local: number) => `${isLong ? `${localDate(local, year)} ` : ''}${localTime(local)}`;
  return `the clock went from ${shown(at + before)} to ${shown(at + after)}`;
};

const skippedNote = (moment: Moment, occurrences: Occurrences | null, clock: LocalClock): string => {
  const { local, at } = moment;
  const note = `${localTime(local)} did not exist on ${localDate(local, clock.year)} in ${clock.name}: ${jumpText(moment.skippedBy!, clock)}.`;
  if (firesFor(moment, occurrences)) {
    return `${note} The schedule runs for it at ${clock.time(at)}, the first moment after.`;
  }
  if (!occurrences?.matches(local)) return note;
  return occurrences.kind === 'elapsed'
    ? `${note} The schedule follows real time, so it leaves that time out.`
    : `${note} The schedule leaves out the times of a jump of more than 3 hours.`;
};

/**
 * Returns the effect of a change of the clock on the moment; null if there is none. `due`: the occurrence there, if
 * any.
 */
export const clockNote = (
  moment: Moment,
  due: number | null,
  occurrences: Occurrences | null,
  clock: LocalClock,
): string | null => {
  if (moment.skippedBy) return skippedNote(moment, occurrences, clock);
  const [first] = moment.shownAt;
  const twice = moment.shownAt.length > 1 && occurrences?.matches(moment.local) === true;
  if (due !== null && occurrences?.explain(due).dst === 'gap') {
    return 'It stands for the local times that the clock skipped there, because each runs once.';
  }
  if (!twice) return null;
  const shown = `The clock showed ${localTime(moment.local)} twice`;
  if (occurrences.kind === 'elapsed') return `${shown}, and the schedule runs both times.`;
  return due === null
    ? `${shown}, and the schedule ran the first time, at ${clock.time(first!)}.`
    : `${shown}, and the schedule runs the first time only.`;
};
