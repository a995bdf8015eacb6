import type { Form } from '../../api/index.ts';
import type { PublicBudget } from '../../api/types.gen.ts';
import { useLlmOptions } from '../../resource/index.ts';
import { budgets as words } from '../../text/en/budgets.ts';
import { Checkbox, FieldRow, NumberField, optionsOf, Select, TextField } from '../../ui/index.ts';
import type { BudgetValues } from './values.ts';

type Action = PublicBudget['action'];

/** The limit, in USD or tokens. */
export const LimitField = <V extends BudgetValues>({
  form,
  unit,
}: {
  form: Form<V>;
  unit: PublicBudget['unit'];
}) => (
  <TextField
    {...(form as unknown as Form<BudgetValues>).field('limit')}
    label={words.limit}
    hint={words.limitHints[unit]}
    required
  />
);

/** What happens when the limit is reached, and who is notified before. */
export const ActionFields = <V extends BudgetValues>({ form: given }: { form: Form<V> }) => {
  const form = given as unknown as Form<BudgetValues>;
  const { action } = form.values;
  const llms = useLlmOptions(action === 'cheaper');
  const actionField = form.field('action');
  return (
    <>
      <Select
        {...actionField}
        onChange={(value) => value !== null && actionField.onChange(value as Action)}
        label={words.action}
        hint={words.actionHints[action]}
        options={optionsOf(words.actions)}
        required
      />
      {action === 'cheaper' && (
        <FieldRow>
          <Select
            {...form.field('llm_id')}
            label={words.llm_id}
            options={llms.options}
            nothing={llms.nothing}
            disabledReason={form.disabledReason ?? llms.reason}
            required
          />
          <NumberField {...form.field('from_percent')} label={words.from_percent} hint={words.fromHint} />
        </FieldRow>
      )}
      <TextField {...form.field('notify_percent')} label={words.notify_percent} hint={words.notifyHint} />
      <Checkbox {...form.field('enabled')} label={words.enabled} hint={words.enabledHint} />
    </>
  );
};
