import { usePostQuery } from '../../../api/index.ts';
import type { ScheduleDetail } from '../../../api/types.gen.ts';
import { schedule as words } from '../../../text/en/schedule.ts';
import { Box, Callout, Loaded, Muted, Skeleton } from '../../../ui/index.ts';
import { clockNote } from '../shared/clock-note.ts';
import { NextTimes } from '../shared/NextTimes.tsx';
import css from './detail.module.css';

const shown = 30;

export const Upcoming = ({ schedule }: { schedule: ScheduleDetail }) => {
  const { cron_expression, timezone, enabled } = schedule;
  const got = usePostQuery('previewSchedule', {}, { cron_expression, timezone, count: shown });
  return (
    <Loaded got={got} operation="previewSchedule" skeleton={<Skeleton rows={10} />}>
      {(preview) => {
        const note = clockNote(preview);
        return (
          <>
            {!enabled && (
              <div className={css.problem}>
                <Callout tone="look">{words.upcomingPaused}</Callout>
              </div>
            )}
            {preview.occurrences.length === 0 ? (
              <Muted>{words.upcomingNone}</Muted>
            ) : (
              <Box>
                <NextTimes times={preview.occurrences} zone={timezone} distances />
              </Box>
            )}
            {note && (
              <p className={css.note}>
                <Muted small>{note}</Muted>
              </p>
            )}
          </>
        );
      }}
    </Loaded>
  );
};
