import { Fragment } from 'react';
import type { Form } from '../api/index.ts';
import { FieldRow } from '../ui/index.ts';
import type { FormDescription } from './describe-form.ts';
import type { Control } from './fields.tsx';

/** The controls of a form, in the order of its table. `exists`: what is chosen when the thing is created stays. */
export const FormFields = <V extends object>({
  of: { names, rows, table, has, isRequired, labelOf },
  form,
  exists = false,
  more = {},
}: {
  of: FormDescription<V>;
  form: Form<V>;
  exists?: boolean;
  /** Other props of single fields. */
  more?: { readonly [K in keyof V]?: Partial<Control<V[K]>> };
}) => {
  const { values } = form;
  const controlOf = (name: keyof V & string) => {
    const { hint, also, control } = table[name]!;
    return (
      <Fragment key={name}>
        {control(
          {
            ...form.field(name),
            label: labelOf(name),
            hint: typeof hint === 'function' ? hint(values) : hint,
            required: isRequired(name, values),
            ...(also && {
              onChange: (value: V[typeof name]) =>
                form.set({ [name]: value, ...also(value, values) } as unknown as Partial<V>),
            }),
            ...more[name],
          },
          values,
        )}
      </Fragment>
    );
  };
  const isShown = (name: string): boolean => {
    const { fixed, shown, chosen } = table[name]!;
    return (
      has(name, values) && !(exists && fixed) && [shown, chosen].every((test) => test?.(values) !== false)
    );
  };
  return names.filter(isShown).map((name) => {
    const { heading } = table[name]!;
    const row = (rows.find((each) => each.includes(name)) ?? [name]).filter(isShown);
    if (name !== row[0]) return null;
    return (
      <Fragment key={name}>
        {heading && <h2>{heading}</h2>}
        {row.length > 1 ? <FieldRow even>{row.map(controlOf)}</FieldRow> : controlOf(name)}
      </Fragment>
    );
  });
};
