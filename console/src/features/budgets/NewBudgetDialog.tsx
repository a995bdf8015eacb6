import type { PublicBudget } from '../../api/types.gen.ts';
import { SubmitForm, useCreateForm, ZoneField } from '../../resource/index.ts';
import { budgets as words } from '../../text/en/budgets.ts';
import { pages } from '../../text/en/pages.ts';
import { useZone } from '../../time/index.ts';
import { Dialog, FieldRow, optionsOf, Select, TextField } from '../../ui/index.ts';
import { ActionFields, LimitField } from './BudgetFields.tsx';
import { SubjectField } from './SubjectField.tsx';
import { type BudgetValues, fieldOf, toBody } from './values.ts';

type Scope = PublicBudget['scope']['kind'];

interface NewValues extends BudgetValues {
  scope: Scope;
  subject: string | null;
  unit: PublicBudget['unit'];
  period: PublicBudget['period'];
  timezone: string;
}

export const NewBudgetDialog = ({ onClose }: { onClose: () => void }) => {
  const zone = useZone();
  const first: NewValues = {
    name: '',
    scope: 'workspace',
    subject: null,
    unit: 'nano_usd',
    limit: '',
    period: 'month',
    timezone: zone,
    action: 'refuse',
    llm_id: null,
    from_percent: 80,
    notify_percent: '50, 80',
    enabled: true,
  };
  const form = useCreateForm({
    operation: 'createBudget',
    params: {},
    first,
    toBody: ({ scope, subject, unit, period, timezone, ...values }) => ({
      ...toBody(unit, values),
      scope: { kind: scope, id: scope === 'workspace' ? null : subject },
      unit,
      period,
      timezone,
    }),
    fieldOf,
    created: words.created,
    onCreated: onClose,
  });
  const { scope, unit } = form.values;
  const choice = <N extends 'unit' | 'period'>(name: N, options: Readonly<Record<NewValues[N], string>>) => {
    const field = form.field(name);
    return (
      <Select
        {...field}
        onChange={(value) => value !== null && field.onChange(value as NewValues[N])}
        label={words[name]}
        options={optionsOf(options)}
        required
      />
    );
  };
  const scopeField = form.field('scope');
  return (
    <Dialog open onClose={onClose} title={pages.newBudget}>
      <SubmitForm form={form} submit={words.createBudget}>
        <p>{words.newText}</p>
        <TextField {...form.field('name')} label={words.name} required autoFocus />
        <FieldRow>
          <Select
            {...scopeField}
            onChange={(value) => {
              if (value === null) return;
              scopeField.onChange(value as Scope);
              form.field('subject').onChange(null);
            }}
            label={words.scope}
            options={optionsOf(words.scopes)}
            required
          />
          {scope !== 'workspace' && <SubjectField key={scope} kind={scope} field={form.field('subject')} />}
        </FieldRow>
        <FieldRow>
          {choice('unit', words.units)}
          <LimitField form={form} unit={unit} />
        </FieldRow>
        <FieldRow>
          {choice('period', words.periods)}
          <ZoneField field={form.field('timezone')} />
        </FieldRow>
        <ActionFields form={form} />
      </SubmitForm>
    </Dialog>
  );
};
