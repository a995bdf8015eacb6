import type { LoadState } from '../../../api/index.ts';
import type { SchedulePreview } from '../../../api/types.gen.ts';
import { scheduleForm as words } from '../../../text/en/schedule-form.ts';
import { Box, Button, Callout, Muted, Problem, Skeleton } from '../../../ui/index.ts';
import { clockNote } from '../shared/clock-note.ts';
import { NextTimes } from '../shared/NextTimes.tsx';
import css from './Preview.module.css';
import { TickLine } from './TickLine.tsx';

/** The number of next times that are listed; the line shows more. */
const listed = 10;

/** Tells how often it runs: "5 runs a week, 261 a year." */
const oftenWords = ({ per_day, per_year, occurrences }: SchedulePreview): string => {
  if (occurrences.length === 0) return words.never;
  if (per_year === 0) return words.rarely;
  const perWeek = Math.round(per_day * 70) / 10;
  if (per_day >= 0.999) return words.perDay(Math.round(per_day * 10) / 10, per_year);
  return perWeek >= 1 ? words.perWeek(perWeek, per_year) : words.perYear(per_year);
};

const Answer = ({ preview, expression }: { preview: SchedulePreview; expression: string }) => {
  const { description, occurrences, zone } = preview;
  const note = clockNote(preview);
  return (
    <>
      <p className={css.words}>{description}</p>
      <code className={css.expression}>{expression}</code>
      <p className={css.note}>{`${oftenWords(preview)} ${words.eachRun}`}</p>
      <TickLine times={occurrences.map(({ at }) => at)} zone={zone.name} />
      <div className={css.times}>
        <NextTimes times={occurrences.slice(0, listed)} zone={zone.name} />
      </div>
      {note && <p className={css.clock}>{note}</p>}
    </>
  );
};

/** A refusal of the times, with a suggestion. */
const Refusal = ({
  error,
  onUse,
}: {
  error: NonNullable<LoadState<unknown>['error']>;
  onUse: (suggestion: { expression?: string; zone?: string }) => void;
}) => {
  const { suggestion } = error.fields;
  const [field, message] = /^(cron_expression|timezone): (.*)$/s.exec(error.message)?.slice(1) ?? [];
  return (
    <Callout tone="bad" title={words.previewRefused}>
      <p>{message ?? error.message}</p>
      {typeof suggestion === 'string' && (
        <Button
          small
          onClick={() => onUse(field === 'timezone' ? { zone: suggestion } : { expression: suggestion })}
        >
          {words.use(suggestion)}
        </Button>
      )}
    </Callout>
  );
};

/** The form's times in words, and the next ones. `expression` is null while a part is missing. */
export const Preview = ({
  got,
  expression,
  onUse,
}: {
  got: LoadState<SchedulePreview>;
  expression: string | null;
  /** Takes what the API suggests instead of what it refused. */
  onUse: (suggestion: { expression?: string; zone?: string }) => void;
}) => {
  const { data, error, previous, refetch } = got;
  const content = () => {
    if (expression === null) return <Muted>{words.previewEmpty}</Muted>;
    if (error?.status === 400 || error?.status === 422) return <Refusal error={error} onUse={onUse} />;
    if (error) return <Problem error={error} onRetry={refetch} />;
    if (!data) return <Skeleton rows={12} />;
    return <Answer preview={data} expression={expression} />;
  };
  return (
    <Box padded title={words.preview}>
      <div aria-live="polite" className={previous && !error ? css.previous : css.content}>
        {content()}
      </div>
    </Box>
  );
};
