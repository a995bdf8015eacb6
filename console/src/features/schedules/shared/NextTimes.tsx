import { scheduleForm as words } from '../../../text/en/schedule-form.ts';
import { Time, useZone, zoneLabel } from '../../../time/index.ts';
import { cx } from '../../../ui/index.ts';
import css from './NextTimes.module.css';

export interface NextTime {
  at: string;
  dst: 'gap' | 'overlap' | null;
}

/** The next times, in the zone of the schedule and in that of the viewer where it is another one. */
export const NextTimes = ({
  times,
  zone,
  distances = false,
}: {
  times: readonly NextTime[];
  zone: string;
  /** Adds the distance to each time; else only the first one has it, below. */
  distances?: boolean;
}) => {
  const own = useZone();
  const both = zoneLabel(own) !== zoneLabel(zone);
  return (
    <table className={css.times}>
      <thead>
        <tr>
          <th scope="col">{zoneLabel(zone)}</th>
          {both && <th scope="col">{words.you(zoneLabel(own))}</th>}
          {distances && (
            <th scope="col" className={css.distance}>
              {words.distance}
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {times.map(({ at, dst }, index) => (
          <tr key={at}>
            <td>
              <Time at={at} form="date" zone={zone} fixedZone />
              {index === 0 && !distances && (
                <span className={css.below}>
                  <Time at={at} form="relative" />
                </span>
              )}
              {dst && <span className={cx(css.below, css.dst)}>{words[dst]}</span>}
            </td>
            {both && (
              <td className={css.own}>
                <Time at={at} form="date" zone={own} fixedZone />
              </td>
            )}
            {distances && (
              <td className={css.distance}>
                <Time at={at} form="relative" />
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
};
