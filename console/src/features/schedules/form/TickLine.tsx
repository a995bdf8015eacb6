import { scheduleForm as words } from '../../../text/en/schedule-form.ts';
import { clockTime, dayOf, shortDay } from '../../../time/index.ts';
import css from './TickLine.module.css';

/** The rhythm of a schedule: a tick for each of its next times, from the first to the last. */
export const TickLine = ({ times, zone }: { times: readonly string[]; zone: string }) => {
  const moments = times.map((at) => new Date(at));
  const [first, last] = [moments[0], moments.at(-1)];
  if (!first || !last || first === last) return null;
  const span = last.getTime() - first.getTime();
  const sameDay = dayOf(first, zone) === dayOf(last, zone);
  const shown = (at: Date) => (sameDay ? clockTime(at, zone) : shortDay(at, zone));
  return (
    <div className={css.line} role="img" aria-label={words.tickLine(times.length, shown(first), shown(last))}>
      <div className={css.ticks}>
        {moments.map((at) => (
          <i key={at.getTime()} style={{ left: `${((at.getTime() - first.getTime()) / span) * 100}%` }} />
        ))}
      </div>
      <div className={css.ends}>
        <span>{shown(first)}</span>
        <span>{words.nextTimes(times.length)}</span>
        <span>{shown(last)}</span>
      </div>
    </div>
  );
};
