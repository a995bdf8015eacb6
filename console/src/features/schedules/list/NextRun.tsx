import type { ListedSchedule } from '../../../api/types.gen.ts';
import { schedules as words } from '../../../text/en/schedules.ts';
import { Time, useClock, useZone, zoneLabel } from '../../../time/index.ts';
import { cx, Emphasis, Muted, Words } from '../../../ui/index.ts';
import css from './list.module.css';

const Reason = ({ text }: { text: string }) => (
  <span className={css.reason} title={text}>
    {text}
  </span>
);

const Paused = ({ paused: { at, by, reason } }: { paused: NonNullable<ListedSchedule['paused']> }) => (
  <>
    <Muted>{words.paused}</Muted>
    {at && (
      <span className={css.below}>
        <Words
          text={by === null ? words.pausedAt : words.pausedBy(by)}
          at={<Time at={at} form="relative" />}
        />
      </span>
    )}
    {reason && <Reason text={words.pausedReason(reason)} />}
  </>
);

/**
 * The next time: its distance, and the time in the zone of the schedule and in that of the viewer where it is another
 * one.
 */
const Next = ({ at, zone }: { at: string; zone: string }) => {
  const own = useZone(zone);
  const isDue = useClock((now) => now >= Date.parse(at));
  const first = <Time at={at} zone={zone} fixedZone />;
  return (
    <>
      {isDue ? words.dueNow : <Time at={at} form="relative" />}
      <span className={css.below}>
        {zoneLabel(own) === zoneLabel(zone) ? (
          first
        ) : (
          <Words
            text={words.bothZones}
            first={
              <span className={css.kept}>
                {first}
                {words.separator}
              </span>
            }
            second={<Time at={at} zone={own} fixedZone />}
          />
        )}
      </span>
    </>
  );
};

/** The next run, or the reason why there is none. */
export const NextRun = ({ schedule }: { schedule: ListedSchedule }) => {
  const { paused, blocked_reason, overdue, next_run_at, timezone, upcoming } = schedule;
  if (paused) return <Paused paused={paused} />;
  if (blocked_reason !== null) {
    return (
      <>
        <Emphasis tone="missing">{words.blocked}</Emphasis>
        <Reason text={blocked_reason} />
      </>
    );
  }
  if (overdue) {
    return (
      <>
        <Emphasis tone="missing">
          <Words text={words.overdue} since={<Time at={overdue.since} form="relative" />} />
        </Emphasis>
        <Reason text={overdue.reason} />
      </>
    );
  }
  if (next_run_at === null) return <Muted>{words.noNext}</Muted>;
  const dst = upcoming[0]?.at === next_run_at ? upcoming[0].dst : null;
  return (
    <>
      <Next at={next_run_at} zone={timezone} />
      {dst && <span className={cx(css.below, css.late)}>{words[dst]}</span>}
    </>
  );
};
