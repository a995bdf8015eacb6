import { counted, isolate, quotedEnd, sentence } from '../../lib/prose.ts';
import { type LocalClock, lengthOf } from '../../lib/times.ts';
import type { Outage, OutageCause, Scheduling } from '../../replicas/index.ts';
import type { WorkItemStart } from '../../work-items/index.ts';
import type { HistoryRow } from '../definition-store.ts';
import { isLate } from '../lateness.ts';
import type { OccurrenceRow } from '../occurrence-store.ts';

/** The sentences that say why an occurrence has the outcome that it has. They only say what is recorded. */

const causes: Record<OutageCause, string> = {
  stopped: 'the last one had been stopped',
  lost: 'the last one had ended without a stop',
  database: 'the database did not respond',
  firing: 'firing failed, and the log of the replicas says why',
  stalled: 'the process did not run',
  clock: 'the clock was set forward, or the machine was suspended',
};

/** Knowledge about replicas around an occurrence. */
interface Circumstances {
  outages: readonly Outage[];
  /** Time before which there are no records of replicas. */
  knownFrom: Date;
}

/** A delay that is left after an outage and is longer than this is not explained by it. */
const restMs = 60_000;

/** Says what kept replicas from handling at `at` what was due at `due`. */
const delayOf = (due: Date, at: Date, { outages, knownFrom }: Circumstances, clock: LocalClock): string => {
  const overlap = ({ from_at, to_at }: Outage) =>
    Math.min(to_at.getTime(), at.getTime()) - Math.max(from_at.getTime(), due.getTime());
  const during = outages.filter((outage) => overlap(outage) > 0).sort((a, b) => overlap(b) - overlap(a));
  const [longest] = during;
  if (!longest) {
    return due < knownFrom
      ? 'What the replicas did then is not recorded.'
      : 'Replicas were scheduling then; what delayed it is not recorded.';
  }
  const span = clock.span(longest.from_at.getTime(), longest.to_at.getTime(), due.getTime());
  const others = during.length - 1;
  const more =
    others === 0
      ? ''
      : ` It happened ${counted(others, 'more time')} before ${clock.near(at.getTime(), due.getTime())}.`;
  const last = Math.max(...during.map(({ to_at }) => to_at.getTime()));
  const rest =
    at.getTime() - last > restMs
      ? ` What delayed it after ${clock.near(last, due.getTime())} is not recorded.`
      : '';
  return `No replica was scheduling ${span} (${clock.name}): ${causes[longest.cause]}.${more}${rest}`;
};

/** `: “until the new price list”.`, or the end of the sentence if no reason was given. */
export const because = (reason: string | null | undefined): string =>
  reason ? `: ${quotedEnd(reason)}` : '.';

/** Returns the author of a change; releases that did not record it leave no name. */
export const changer = ({ principal }: Pick<HistoryRow, 'principal'>): string =>
  isolate(principal?.name ?? 'someone');

/** Reason why occurrences were skipped, as it is stored; anything else is why the schedule could not fire. */
export type SkipCause = 'missed' | 'paused' | 'edited' | 'overlap' | 'blocked';

const namedCauses = ['missed', 'paused', 'edited', 'overlap'] as const;

export const skipCauseOf = ({
  outcome,
  reason,
}: Pick<OccurrenceRow, 'outcome' | 'reason'>): SkipCause | null => {
  if (outcome !== 'skipped') return null;
  return namedCauses.find((cause) => cause === reason) ?? 'blocked';
};

export interface ReasonFacts {
  circumstances: Circumstances;
  /** The change that skipped it. */
  change: HistoryRow | undefined;
  /** Later occurrence that was handled with it and fired in its place. */
  follower: Pick<OccurrenceRow, 'outcome' | 'scheduled_for'> | undefined;
  /** The Work Item that was still running, unless it is gone. */
  running: WorkItemStart | undefined;
}

/** Reason why an earlier one of several that are due was passed over: only the latest can fire. */
const passedOver = (
  { scheduled_for, at }: OccurrenceRow,
  { follower }: ReasonFacts,
  clock: LocalClock,
): string => {
  if (!follower) {
    const late = lengthOf(at.getTime() - scheduled_for.getTime());
    return `It was ${late} late when it was handled, and catch up was off.`;
  }
  const latest = clock.near(follower.scheduled_for.getTime(), scheduled_for.getTime());
  return follower.outcome === 'caught_up'
    ? `Of what was missed only the latest, ${latest}, was caught up.`
    : `Only the latest that was due, ${latest}, fired.`;
};

/** `The Work Item of 02:30 was still running.` */
const stillRunning = (item: WorkItemStart | undefined, due: Date, clock: LocalClock): string => {
  if (!item) return 'A Work Item of the schedule was still running.';
  const at = (item.occurrence ?? item.created_at).getTime();
  const which = item.occurrence ? 'The Work Item of' : 'The Work Item that was run by hand at';
  return `${which} ${clock.near(at, due.getTime())} was still running.`;
};

/** Says why an occurrence was skipped, late or caught up; null if it fired on time or was run by hand. */
export const reasonOf = (row: OccurrenceRow, facts: ReasonFacts, clock: LocalClock): string | null => {
  const { scheduled_for: due, at, outcome } = row;
  const lateness = at.getTime() - due.getTime();
  const delay = () => delayOf(due, at, facts.circumstances, clock);
  if (outcome === 'caught_up') return `Caught up ${lengthOf(lateness)} late. ${delay()}`;
  if (outcome === 'fired') return isLate(row) ? `Fired ${lengthOf(lateness)} late. ${delay()}` : null;
  const { change } = facts;
  const when = clock.near(at.getTime(), due.getTime());
  switch (skipCauseOf(row)) {
    case 'missed':
      return `${delay()} ${passedOver(row, facts, clock)}`;
    case 'paused':
      return change
        ? `It was due and had not fired yet when ${changer(change)} paused the schedule at ${when}${because(change.reason)}`
        : `It was due and had not fired yet when the schedule was paused at ${when}.`;
    case 'edited':
      return `It was due and had not fired yet when ${change ? changer(change) : 'someone'} changed the times of the schedule at ${when}.`;
    case 'overlap':
      return `${stillRunning(facts.running, due, clock)} \`overlap\` is \`skip\`.`;
    case 'blocked':
      return `The schedule could not fire. ${sentence(row.reason ?? 'no one recorded why')}`;
    default:
      return null;
  }
};

/** Says why an occurrence that is due since `due` has not been handled yet. */
export const whyOverdue = ({ alive, last_at }: Scheduling, due: Date, clock: LocalClock): string => {
  if (alive)
    return 'Replicas are scheduling, so it fires in a moment, unless a transaction holds the schedule.';
  if (!last_at) return 'No replica is scheduling, and there is no record of one that was.';
  return `No replica has been scheduling since ${clock.near(last_at.getTime(), due.getTime())} (${clock.name}).`;
};

/** Says who paused the schedule, when and why. */
export const pausedSentence = (pause: HistoryRow | undefined, clock: LocalClock): string => {
  if (!pause) return 'The schedule was paused.';
  const when = clock.moment(pause.from_at.getTime());
  return `The schedule was paused by ${changer(pause)} on ${when}${because(pause.reason)}`;
};
