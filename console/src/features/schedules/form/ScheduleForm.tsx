import { type ReactNode, useState } from 'react';
import { type Form as FormState, useMe } from '../../../api/index.ts';
import { ZoneField } from '../../../resource/index.ts';
import { scheduleForm as words } from '../../../text/en/schedule-form.ts';
import { Checkbox, Form, Problem, Select, Textarea, TextField } from '../../../ui/index.ts';
import { Preview } from './Preview.tsx';
import { RepeatFields } from './RepeatFields.tsx';
import { expressionOf } from './repeat.ts';
import css from './ScheduleForm.module.css';
import { usePreview } from './use-preview.ts';
import { maxMessageLength, payloadKb, type Values } from './values.ts';

const overlapOptions = (['queue', 'skip', 'cancel_previous'] as const).map((value) => ({
  value,
  label: words.whenRunning[value],
}));

const lengthHint = (message: string): string =>
  message.length > maxMessageLength * 0.8
    ? `${words.messageHint} ${words.messageLong(message.length, maxMessageLength)}`
    : words.messageHint;

/** JSON that most schedules do not have: folded unless there is some, or something is wrong with it. */
const MoreFields = ({ form }: { form: FormState<Values> }) => {
  const most = useMe().limits?.max_work_item_payload_size_in_kb ?? 100;
  const [payload, metadata] = [form.field('payload'), form.field('metadata')];
  const size = payloadKb(payload.value);
  const tooLarge = size !== null && size > most ? words.payloadTooLarge(size, most) : undefined;
  const hint =
    size && payload.value ? `${words.payloadHint} ${words.payloadSize(size, most)}` : words.payloadHint;
  const [open, setOpen] = useState(Boolean(payload.value || metadata.value));
  const wrong = Boolean(payload.error || metadata.error);
  return (
    <details
      className={css.more}
      open={open || wrong}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>{words.more}</summary>
      <div>
        <Textarea
          {...payload}
          error={payload.error ?? tooLarge}
          label={words.payload}
          hint={hint}
          rows={5}
          mono
        />
        <Textarea {...metadata} label={words.metadata} hint={words.metadataHint} rows={3} mono />
      </div>
    </details>
  );
};

const OtherFaults = ({ form }: { form: FormState<Values> }) => {
  const { repeat } = form.values;
  const shown = ['agent_id', 'time', 'days', 'day', 'minute', 'payload', 'metadata'] as const;
  // Other components show these fields; asking for them is how the form knows.
  for (const name of repeat === 'expression' ? ([...shown, 'cron_expression'] as const) : shown)
    form.field(name);
  return (
    form.otherFaults.length > 0 && (
      <ul role="alert" className={css.faults}>
        {form.otherFaults.map((fault) => (
          <li key={fault.path}>{`${fault.path}: ${fault.message}`}</li>
        ))}
      </ul>
    )
  );
};

export const ScheduleForm = ({
  form,
  agent,
  actions,
  onSubmit,
  changedOutside = false,
  children,
}: {
  form: FormState<Values>;
  agent?: ReactNode;
  actions: ReactNode;
  onSubmit: () => void;
  changedOutside?: boolean;
  children?: ReactNode;
}) => {
  const { values, field, set } = form;
  const grace = (useMe().limits?.schedule_misfire_grace_seconds ?? 60) * 1_000;
  const expression = expressionOf(values);
  const got = usePreview(expression, values.timezone, values.repeat === 'expression');
  const message = field('message');
  return (
    <Form
      onSubmit={onSubmit}
      actions={actions}
      side={
        <Preview
          got={got}
          expression={expression}
          onUse={({ expression: written, zone }) =>
            set({
              ...(written === undefined ? {} : { repeat: 'expression' as const, cron_expression: written }),
              ...(zone === undefined ? {} : { timezone: zone }),
            })
          }
        />
      }
    >
      {agent}
      <TextField {...field('work_item_name')} label={words.name} hint={words.nameHint} />
      <RepeatFields form={form} changedOutside={changedOutside} />
      <ZoneField field={field('timezone')} />
      <Textarea {...message} label={words.message} hint={lengthHint(message.value)} />
      <Checkbox {...field('catch_up')} label={words.catchUp} hint={words.catchUpOn(grace)} />
      <Select
        {...field('overlap')}
        label={words.running}
        hint={words.runningHint}
        options={overlapOptions}
        onChange={(overlap) => set({ overlap: overlap as Values['overlap'] })}
      />
      <MoreFields form={form} />
      <OtherFaults form={form} />
      {form.error && !form.conflict && <Problem error={form.error} />}
      {children}
    </Form>
  );
};
