import type { CSSProperties } from 'react';
import { to } from '../../../routing/to.ts';
import { scheduleTimeline as words } from '../../../text/en/schedule-timeline.ts';
import { number } from '../../../text/index.ts';
import { dayOf, shortDay, useClock } from '../../../time/index.ts';
import { cx, Link, Mark } from '../../../ui/index.ts';
import { paramsOf } from '../timeline/span.ts';
import css from './Calendar.module.css';
import { type Cell, cellKey, type Week } from './load.ts';

const hours = Array.from({ length: 24 }, (_, hour) => hour);
const clock = (hour: number): string => `${String(hour).padStart(2, '0')}:00`;
/** `Mon 23 Nov`: the year is above. */
const dayName = (day: string): string => {
  const noon = new Date(`${day}T12:00:00Z`);
  return shortDay(noon, 'UTC', noon);
};

/** On phones the day is below its weekday, without the month, so that it fits. */
const DayHead = ({ day }: { day: string }) => {
  const [weekday, number, month] = dayName(day).split(' ');
  return (
    <>
      <span>{weekday}</span> <span>{number}</span> <span className={css.month}>{month}</span>
    </>
  );
};

const Hour = ({
  cell,
  day,
  hour,
  most,
  agentId,
}: {
  cell: Cell | undefined;
  day: string;
  hour: number;
  most: number;
  agentId: string | undefined;
}) => {
  const holdsNow = useClock((now) => cell !== undefined && cell.from <= now && now < cell.to);
  if (!cell) return <td className={css.gap} title={words.noHour(dayName(day), clock(hour))} />;
  const { total, bad, twice, from, to: until } = cell;
  const label = words.cell(dayName(day), clock(hour), total, bad);
  return (
    <td
      className={cx(twice && css.twice, holdsNow && css.now)}
      style={{ '--load': total / most } as CSSProperties}
      title={twice ? `${label}, ${words.twice}` : label}
    >
      {total > 0 && (
        <Link
          href={to('/schedules', {}, { view: 'timeline', agent_id: agentId, ...paramsOf(from, until) })}
          aria-label={label}
        >
          {number(total)}
          {bad > 0 && <Mark kind="missing" />}
        </Link>
      )}
    </td>
  );
};

export const Calendar = ({
  week,
  cells,
  zone,
  agentId,
}: {
  week: Week;
  cells: Map<string, Cell>;
  zone: string;
  agentId: string | undefined;
}) => {
  const today = useClock((now) => dayOf(new Date(now), zone));
  const most = Math.max(1, ...[...cells.values()].map(({ total }) => total));
  return (
    <table className={css.calendar} aria-label={words.calendar}>
      <thead>
        <tr>
          <th scope="col">{words.hour}</th>
          {week.days.map((day) => (
            <th key={day} scope="col" className={cx(day === today && css.today)}>
              <DayHead day={day} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {hours.map((hour) => (
          <tr key={hour}>
            <th scope="row">{clock(hour)}</th>
            {week.days.map((day) => (
              <Hour
                key={day}
                cell={cells.get(cellKey(day, hour))}
                day={day}
                hour={hour}
                most={most}
                agentId={agentId}
              />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
};
