import type { Form } from '../../api/index.ts';
import { useOperation } from '../../api/index.ts';
import { routes as words } from '../../text/en/routes.ts';
import {
  AddToList,
  Button,
  FieldRow,
  MultiSelect,
  NumberField,
  optionsOf,
  Section,
  Select,
} from '../../ui/index.ts';
import css from './RowOf.module.css';
import { RowOf } from './RowOf.tsx';
import { rowErrors } from './row-errors.ts';
import { emptyStep, type Recipients, type RouteValues, type StepValues } from './values.ts';

/** An installation has at most some hundred people whom someone names here. */
const mostPeople = 100;
const mostSteps = 5;

const People = ({
  value,
  onChange,
  disabledReason,
}: {
  value: string[];
  onChange: (ids: string[]) => void;
  disabledReason: string | null | undefined;
}) => {
  const got = useOperation('listUsers', {}, { query: { limit: mostPeople } });
  const known = (got.data?.data ?? []).map(({ id, name, email }) => ({
    value: id,
    label: name ?? email ?? id.slice(0, 8),
    note: email ?? undefined,
  }));
  const unknown = value.filter((id) => known.every((one) => one.value !== id));
  return (
    <MultiSelect
      label={words.user_ids}
      value={value}
      onChange={onChange}
      options={[...known, ...unknown.map((id) => ({ value: id, label: id.slice(0, 8) }))]}
      nothing={words.noPeople}
      disabledReason={disabledReason}
    />
  );
};

const Step = ({
  step,
  channels,
  errorOf,
  onChange,
  disabledReason,
}: {
  step: StepValues;
  channels: { value: string; label: string; note: string }[];
  errorOf: (part: string) => string | undefined;
  onChange: (change: Partial<StepValues>) => void;
  disabledReason: string | null | undefined;
}) => (
  <>
    <FieldRow even>
      <Select
        label={words.channel}
        error={errorOf('channel_id')}
        value={step.channel_id}
        onChange={(channel_id) => onChange({ channel_id })}
        options={channels}
        nothing={words.noChannel}
        disabledReason={disabledReason}
        required
      />
      <Select
        label={words.to}
        error={errorOf('to')}
        value={step.to}
        onChange={(to) => to !== null && onChange({ to: to as Recipients })}
        options={optionsOf(words.tos)}
        disabledReason={disabledReason}
      />
      <NumberField
        label={words.after_minutes}
        error={errorOf('after_minutes')}
        value={step.after_minutes}
        onChange={(after_minutes) => onChange({ after_minutes })}
        min={0}
        max={43_200}
        step={1}
        disabledReason={disabledReason}
      />
    </FieldRow>
    {step.to === 'role' && (
      <Select
        label={words.role}
        value={step.role}
        onChange={(role) => role !== null && onChange({ role: role as StepValues['role'] })}
        options={optionsOf(words.roles).filter(({ value }) => value !== 'agent')}
        disabledReason={disabledReason}
      />
    )}
    {step.to === 'people' && (
      <People
        value={step.user_ids}
        onChange={(user_ids) => onChange({ user_ids })}
        disabledReason={disabledReason}
      />
    )}
  </>
);

/** Whom a route tells, and when. */
export const StepFields = ({ form }: { form: Form<RouteValues> }) => {
  const got = useOperation('listChannels', {}, { query: { limit: 100 } });
  const { value: steps, onChange, disabledReason } = form.field('steps');
  const errors = rowErrors(form, 'steps', ['channel_id', 'to', 'after_minutes']);
  const listed = got.data?.data ?? [];
  // PagerDuty takes alerts only.
  const fitting = listed.filter(({ kind }) => kind !== 'pagerduty' || form.values.for === 'alerts');
  const channels = fitting.map(({ id, name, kind }) => ({ value: id, label: name, note: kind as string }));
  const change = (at: number, patch: Partial<StepValues>) =>
    onChange(steps.map((step, i) => (i === at ? { ...step, ...patch } : step)));
  return (
    <Section title={words.steps} note={words.stepsNote}>
      <div className={css.rows}>
        {steps.map((step, at) => (
          <RowOf
            // biome-ignore lint/suspicious/noArrayIndexKey: steps have no other name.
            key={at}
            label={words.step(at + 1)}
            remove={
              steps.length > 1 && (
                <Button
                  small
                  kind="quiet"
                  disabledReason={disabledReason}
                  onClick={() => onChange(steps.filter((_, i) => i !== at))}
                >
                  {words.removeStep(at + 1)}
                </Button>
              )
            }
          >
            <Step
              step={step}
              channels={channels}
              errorOf={(part) => errors.at(at, part)}
              onChange={(patch) => change(at, patch)}
              disabledReason={disabledReason}
            />
          </RowOf>
        ))}
        {(steps.length < mostSteps || errors.rest) && (
          <AddToList
            label={words.addStep}
            error={errors.rest}
            disabledReason={disabledReason}
            onAdd={() =>
              onChange([...steps, { ...emptyStep, after_minutes: steps.at(-1)?.after_minutes ?? 0 }])
            }
          />
        )}
      </div>
    </Section>
  );
};
