import type { ScheduleDetail } from '../../../api/types.gen.ts';
import { schedule as words } from '../../../text/en/schedule.ts';
import { Time, useZone, zoneLabel } from '../../../time/index.ts';
import { Emphasis, Words } from '../../../ui/index.ts';

const Paused = ({ paused }: { paused: NonNullable<ScheduleDetail['paused']> }) => {
  if (paused.at === null) return words.paused;
  return (
    <>
      <Emphasis>
        <Words
          text={paused.by === null ? words.pausedAt : words.pausedBy(paused.by)}
          at={<Time at={paused.at} form="relative" />}
        />
      </Emphasis>
      {paused.reason ? words.because(paused.reason) : '.'}
    </>
  );
};

/** The next time: in the zone of the schedule, and in that of the viewer where it is another one. */
const Next = ({ at, timezone }: { at: string; timezone: string }) => {
  const own = useZone(timezone);
  return (
    <Words
      text={words.next}
      relative={
        <Emphasis>
          <Time at={at} form="relative" />
        </Emphasis>
      }
      exact={
        <>
          <Time at={at} form="date" zone={timezone} fixedZone /> {timezone}
          {zoneLabel(own) !== zoneLabel(timezone) && (
            <>
              {' ('}
              <Time at={at} zone={own} fixedZone />
              {')'}
            </>
          )}
        </>
      }
    />
  );
};

/** The header: the state, the next time, and the punctuality. */
export const HeaderSentence = ({ schedule }: { schedule: ScheduleDetail }) => {
  const { paused, overdue, blocked_reason, next_run_at, timezone, punctuality, recent } = schedule;
  const days = Math.ceil(
    (Date.now() - Math.max(Date.parse(punctuality.from), Date.parse(schedule.created_at))) / 86_400_000,
  );
  const state = () => {
    if (paused) {
      return (
        <>
          <Paused paused={paused} /> {words.pausedMore}
        </>
      );
    }
    if (blocked_reason !== null) {
      return (
        <>
          <Emphasis tone="missing">{words.blocked}</Emphasis> {blocked_reason}
        </>
      );
    }
    if (overdue) {
      return (
        <>
          <Emphasis tone="missing">
            <Words text={words.overdue} since={<Time at={overdue.since} form="relative" />} />
          </Emphasis>{' '}
          {overdue.reason}
        </>
      );
    }
    return next_run_at === null ? words.noNext : <Next at={next_run_at} timezone={timezone} />;
  };
  const notDue = () => {
    if (recent.some(({ status }) => status !== 'manual'))
      return words.notLately(words.lastDays(Math.min(30, days)));
    return recent.length > 0 ? words.notYetByHand : words.notYet;
  };
  return (
    <>
      {state()}{' '}
      {punctuality.total === 0
        ? notDue()
        : words.punctual(punctuality.on_time / punctuality.total, words.lastDays(Math.min(30, days)))}
    </>
  );
};
