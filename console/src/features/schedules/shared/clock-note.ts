import type { SchedulePreview } from '../../../api/types.gen.ts';
import { scheduleForm as words } from '../../../text/en/schedule-form.ts';
import { clockTime, shortDay } from '../../../time/index.ts';

const minutesOf = (offset: string): number => {
  const [hours, minutes] = offset.slice(1).split(':').map(Number);
  return (offset.startsWith('-') ? -1 : 1) * (hours! * 60 + (minutes ?? 0));
};

/** `02:00` on a clock that is `offset` from UTC. */
const clockAt = (at: string, offset: string): string =>
  clockTime(new Date(Date.parse(at) + minutesOf(offset) * 60_000), 'UTC');

/** Describes the next change of the zone's clock and its effect on the runs. Null if no change is planned. */
export const clockNote = ({ zone, skipped_local_times }: SchedulePreview): string | null => {
  const { next_transition: next, offset } = zone;
  if (!next) return null;
  const day = shortDay(new Date(next.at), zone.name);
  const forward = minutesOf(next.offset) > minutesOf(offset);
  const [before, after] = [clockAt(next.at, offset), clockAt(next.at, next.offset)];
  if (!forward) return words.clockBack(day, after, before);
  const note = words.clockForward(day, before, after);
  const onThatDay = skipped_local_times.filter(({ local }) => local.slice(11, 16) >= before);
  const [first] = onThatDay;
  if (!first) return `${note} ${words.noRunSkipped}`;
  const skipped = first.local.slice(11, 16);
  return first.at === null
    ? `${note} ${words.runSkipped(skipped)}`
    : `${note} ${words.runMoved(skipped, clockTime(new Date(first.at), zone.name))}`;
};
