import { extractions as words } from '../../text/en/extractions.ts';
import { ui } from '../../text/en/ui.ts';
import { AddToList, Button, Checkbox, optionsOf, Select, TextField } from '../../ui/index.ts';
import css from './extractions.module.css';
import { emptyField, type Field, invoiceFields, type Kind } from './schema.ts';

const kinds = optionsOf(words.kinds);

const FieldRow = ({
  field,
  place,
  onChange,
  onRemove,
}: {
  field: Field;
  place: number;
  onChange: (patch: Partial<Field>) => void;
  onRemove: () => void;
}) => (
  <fieldset className={css.field} aria-label={words.field(place)}>
    <TextField
      label={words.key(place)}
      hiddenLabel
      placeholder={words.keyPlaceholder}
      mono
      value={field.key}
      onChange={(key) => onChange({ key })}
    />
    <Select
      label={words.kindOf(place)}
      hiddenLabel
      value={field.kind}
      options={kinds}
      onChange={(kind) => onChange({ kind: kind as Kind })}
    />
    <div className={css.describe}>
      <TextField
        label={words.describe(place)}
        hiddenLabel
        placeholder={words.describePlaceholder}
        value={field.description}
        onChange={(description) => onChange({ description })}
      />
    </div>
    {field.kind === 'records' && (
      <div className={css.keys}>
        <TextField
          label={words.columnsOf(place)}
          hint={words.columnsHint}
          placeholder={words.columnsPlaceholder}
          mono
          value={field.columns}
          onChange={(columns) => onChange({ columns })}
        />
      </div>
    )}
    <div className={css.fieldEnd}>
      <Checkbox
        label={words.required}
        value={field.required}
        onChange={(required) => onChange({ required })}
      />
      <Button small kind="quiet" aria-label={words.removeField(place)} onClick={onRemove}>
        {ui.remove}
      </Button>
    </div>
  </fieldset>
);

/** The fields of a schema, for who does not write JSON. */
export const SchemaFields = ({
  value,
  onChange,
  error,
}: {
  value: readonly Field[];
  onChange: (fields: Field[]) => void;
  error: string | undefined;
}) => {
  const change = (index: number, patch: Partial<Field>) =>
    onChange(value.map((field, i) => (i === index ? { ...field, ...patch } : field)));
  const untouched = value.every(({ key }) => key === '');
  return (
    <fieldset className={css.fields} aria-label={words.fields}>
      <ul>
        {value.map((field, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the key of a field changes while it is typed.
          <li key={index}>
            <FieldRow
              field={field}
              place={index + 1}
              onChange={(patch) => change(index, patch)}
              onRemove={() => onChange(value.filter((_, i) => i !== index))}
            />
          </li>
        ))}
      </ul>
      <AddToList label={words.addField} error={error} onAdd={() => onChange([...value, emptyField])}>
        {untouched && (
          <Button small kind="quiet" onClick={() => onChange([...invoiceFields])}>
            {words.startInvoice}
          </Button>
        )}
      </AddToList>
    </fieldset>
  );
};
