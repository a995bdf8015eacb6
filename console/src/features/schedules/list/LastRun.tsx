import type { ListedSchedule } from '../../../api/types.gen.ts';
import { workItemWords } from '../../../resource/WorkItemOutcome.tsx';
import { occurrences } from '../../../text/en/occurrences.ts';
import { schedules as words } from '../../../text/en/schedules.ts';
import { Time } from '../../../time/index.ts';
import { Muted, OutcomeTag, Words } from '../../../ui/index.ts';
import { kindOf } from '../shared/outcomes.ts';
import css from './list.module.css';

type Last = NonNullable<ListedSchedule['last']>;

/** Returns the reason of the outcome, or else of the failure of its Work Item. */
const reasonOf = ({ status, reason, by, work_item }: Last): string | null => {
  if (work_item?.status === 'ERROR' && work_item.error) return work_item.error.message;
  if (reason) return reason;
  return status === 'manual' && by !== null ? occurrences.runBy(by) : null;
};

export const LastRun = ({ schedule: { last, timezone } }: { schedule: ListedSchedule }) => {
  if (!last) return <Muted third>{words.notDueYet}</Muted>;
  const reason = reasonOf(last);
  const at = <Time at={last.status === 'manual' ? last.at : last.scheduled_for} zone={timezone} />;
  return (
    <>
      <OutcomeTag kind={kindOf(last)}>
        {last.status === 'late' ? words.lateBy(last.lateness_ms) : undefined}
      </OutcomeTag>
      <span className={css.below}>
        {last.work_item ? (
          <Words text={words.timeAndOutcome} at={at} outcome={workItemWords(last.work_item)} />
        ) : last.count > 1 ? (
          <Words text={words.timeAndMore} at={at} more={occurrences.more(last.count - 1)} />
        ) : (
          at
        )}
      </span>
      {reason && (
        <span className={css.reason} title={reason}>
          {reason}
        </span>
      )}
    </>
  );
};
