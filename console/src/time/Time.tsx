import type { ClipboardEvent } from 'react';
import { useClock } from './clock.ts';
import { clockTime, exactTime, fullTime, relativeTime, shortDay } from './format.ts';
import css from './Time.module.css';
import { useZone, zoneLabel } from './zone.ts';

/**
 * The form of a time. `relative`: "in 3 h 12 min". `exact`: "Mon 02:30 Berlin". `both`: the relative form over the
 * exact one, as in the cells of tables. `clock`: "14:36:02", for lists of one day. `day`: "Mon 23 Nov" over "02:30".
 * `date`: "Mon 23 Nov 02:30", for lists whose heading names the zone.
 */
type TimeForm = 'relative' | 'exact' | 'both' | 'clock' | 'day' | 'date';

export interface TimeProps {
  at: string | Date;
  form?: TimeForm;
  /** The zone of the schedule that the time belongs to. It is used if the viewer chose schedules' zones. */
  zone?: string | null | undefined;
  /** Always show the time in `zone`, whatever the viewer chose. */
  fixedZone?: boolean;
  seconds?: boolean;
}

/**
 * A time. The whole time, with its zone, is in the title; copying it gives ISO 8601. Every time on a page is one of
 * these, so that the choice of zone holds everywhere.
 */
export const Time = ({ at, form = 'exact', zone: own, fixedZone = false, seconds = false }: TimeProps) => {
  const chosen = useZone(own);
  const zone = fixedZone && own ? own : chosen;
  const date = typeof at === 'string' ? new Date(at) : at;
  const relative = useClock((now) => (form === 'relative' || form === 'both' ? relativeTime(date, now) : ''));
  if (Number.isNaN(date.getTime())) return null;
  const iso = date.toISOString();
  const exact = () => `${exactTime(date, zone, { seconds })} ${zoneLabel(zone)}`;
  const copyIso = (event: ClipboardEvent) => {
    event.clipboardData.setData('text/plain', iso);
    event.preventDefault();
  };
  const title = fullTime(date, zone);
  const over = (first: string, second: string) => (
    <time dateTime={iso} title={title} className={css.two} onCopy={copyIso}>
      <span>{first}</span> <span className={css.sub}>{second}</span>
    </time>
  );
  if (form === 'both') return over(relative, exact());
  if (form === 'day') return over(shortDay(date, zone), clockTime(date, zone, seconds));
  // Only what is shown is written: a list has hundreds of times.
  const written = {
    relative: () => relative,
    exact,
    clock: () => clockTime(date, zone, true),
    date: () => `${shortDay(date, zone)} ${clockTime(date, zone, seconds)}`,
  }[form]();
  return (
    <time dateTime={iso} title={title} className={css.one} onCopy={copyIso}>
      {written}
    </time>
  );
};
