import type { Form } from '../../../api/index.ts';
import { scheduleForm as words } from '../../../text/en/schedule-form.ts';
import {
  Callout,
  FieldRow,
  NumberField,
  Segmented,
  Select,
  TextField,
  ToggleGroup,
} from '../../../ui/index.ts';
import { expressionOf, minuteSteps, readTime, repeats, weekdays } from './repeat.ts';
import css from './ScheduleForm.module.css';
import type { Values } from './values.ts';

const TimeField = ({ form }: { form: Form<Values> }) => {
  const field = form.field('time');
  return (
    <div className={css.short}>
      <TextField
        {...field}
        label={words.time}
        placeholder="02:30"
        maxLength={5}
        onBlur={() => field.onChange(readTime(field.value) ?? field.value)}
      />
    </div>
  );
};

const MinuteSteps = ({ form }: { form: Form<Values> }) => {
  const { value, onChange, ...field } = form.field('every');
  return (
    <div className={css.medium}>
      <Select
        {...field}
        label={words.every}
        value={String(value)}
        onChange={(next) => onChange(Number(next))}
        searchable={false}
        options={minuteSteps.map((step) => ({ value: String(step), label: words.everyMinutes(step) }))}
      />
    </div>
  );
};

export const RepeatFields = ({
  form,
  changedOutside,
}: {
  form: Form<Values>;
  /** The stored expression is not the one that was last chosen here. */
  changedOutside: boolean;
}) => {
  const { values, set, field } = form;
  const choose = (repeat: Values['repeat']) =>
    // Writing by hand begins with what was chosen.
    set(
      repeat === 'expression'
        ? { repeat, cron_expression: expressionOf(values) ?? values.cron_expression }
        : { repeat },
    );
  const timed = ['daily', 'weekly', 'monthly'].includes(values.repeat);
  return (
    <>
      <Segmented
        label={words.repeat}
        value={values.repeat}
        onChange={choose}
        options={repeats.map((value) => ({ value, label: words.repeats[value] }))}
      />
      {values.repeat === 'minutes' && <MinuteSteps form={form} />}
      {values.repeat === 'hourly' && (
        <NumberField {...field('minute')} label={words.minute} min={0} max={59} step={1} />
      )}
      {timed && (
        <FieldRow>
          <TimeField form={form} />
          {values.repeat === 'weekly' && (
            <ToggleGroup
              {...field('days')}
              label={words.days}
              options={weekdays.map((value) => ({
                value,
                label: words.shortWeekdays[value],
                name: words.weekdays[value],
              }))}
            />
          )}
          {values.repeat === 'monthly' && (
            <NumberField
              {...field('day')}
              label={words.day}
              min={1}
              max={31}
              step={1}
              hint={values.day && values.day > 28 ? words.dayMissing(values.day) : undefined}
            />
          )}
        </FieldRow>
      )}
      {values.repeat === 'expression' && (
        <>
          {changedOutside && (
            <Callout tone="look" title={words.changedOutside}>
              <p>{words.changedOutsideMore}</p>
            </Callout>
          )}
          <TextField
            {...field('cron_expression')}
            label={words.expression}
            hint={words.expressionHint}
            placeholder="30 2 * * 1-5"
            mono
          />
        </>
      )}
    </>
  );
};
