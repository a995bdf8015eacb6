import type { Form } from '../../api/index.ts';
import { routes as words } from '../../text/en/routes.ts';
import { AddToList, Button, FieldRow, optionsOf, Section, Select, TextField } from '../../ui/index.ts';
import css from './RowOf.module.css';
import { RowOf } from './RowOf.tsx';
import { rowErrors } from './row-errors.ts';
import { type ConditionValues, emptyCondition, type RouteValues } from './values.ts';

const mostConditions = 5;

const ops = optionsOf(words.ops).map((option) => ({ ...option, note: option.value }));

/** What must hold for the arguments of a call. */
export const ConditionFields = ({ form }: { form: Form<RouteValues> }) => {
  const { value: conditions, onChange, disabledReason } = form.field('conditions');
  const errors = rowErrors(form, 'conditions', ['path', 'op', 'value']);
  const change = (at: number, patch: Partial<ConditionValues>) =>
    onChange(conditions.map((one, i) => (i === at ? { ...one, ...patch } : one)));
  return (
    <Section title={words.conditions} note={words.conditionsNote}>
      <div className={css.rows}>
        {conditions.map((condition, at) => (
          <RowOf
            // biome-ignore lint/suspicious/noArrayIndexKey: conditions have no other name.
            key={at}
            label={words.condition(at + 1)}
            remove={
              <Button
                small
                kind="quiet"
                disabledReason={disabledReason}
                onClick={() => onChange(conditions.filter((_, i) => i !== at))}
              >
                {words.removeCondition(at + 1)}
              </Button>
            }
          >
            <FieldRow even>
              <TextField
                label={words.path}
                error={errors.at(at, 'path')}
                value={condition.path}
                onChange={(path) => change(at, { path })}
                placeholder={words.pathPlaceholder}
                disabledReason={disabledReason}
                mono
                required
              />
              <Select
                label={words.op}
                error={errors.at(at, 'op')}
                value={condition.op}
                onChange={(op) => op !== null && change(at, { op })}
                options={ops}
                disabledReason={disabledReason}
              />
              {condition.op !== 'exists' && (
                <TextField
                  label={words.value}
                  error={errors.at(at, 'value')}
                  value={condition.value}
                  onChange={(value) => change(at, { value })}
                  disabledReason={disabledReason}
                  mono
                />
              )}
            </FieldRow>
          </RowOf>
        ))}
        {(conditions.length < mostConditions || errors.rest) && (
          <AddToList
            label={words.addCondition}
            error={errors.rest}
            disabledReason={disabledReason}
            onAdd={() => onChange([...conditions, emptyCondition])}
          />
        )}
      </div>
    </Section>
  );
};
