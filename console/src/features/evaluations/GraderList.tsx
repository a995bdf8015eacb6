import { type FieldProps, useOperation } from '../../api/index.ts';
import { evaluations as words } from '../../text/en/evaluations.ts';
import { ui } from '../../text/en/ui.ts';
import {
  AddToList,
  Bar,
  Button,
  Checkbox,
  FieldRow,
  NumberField,
  optionsOf,
  Select,
  Textarea,
  TextField,
} from '../../ui/index.ts';
import css from './evaluations.module.css';
import {
  type FieldName,
  type FieldValue,
  type GraderType,
  type GraderValues,
  graderFields,
  newGrader,
} from './graders.ts';

const types = optionsOf(words.graderTypes);
const hints: Readonly<Partial<Record<FieldName, string>>> = words.graderHints;

const LlmField = (props: {
  label: string;
  value: string | null;
  onChange: (value: string | null) => void;
}) => {
  const { data } = useOperation('listLlmConfigurations', {}, { query: { limit: 100 } });
  const options = (data?.data ?? []).map(({ id, name }) => ({ value: id, label: name }));
  return <Select {...props} hint={words.graderHints.llm_id} options={options} clearable />;
};

const Fields = ({
  grader,
  onChange,
  disabledReason,
}: {
  grader: GraderValues;
  onChange: (fields: Record<string, FieldValue>) => void;
  disabledReason: string | null | undefined;
}) =>
  graderFields[grader.type].map(([name, kind]) => {
    const base = { label: words.graderFields[name], hint: hints[name], disabledReason };
    const value = grader.fields[name]!;
    const set = (next: FieldValue) => onChange({ ...grader.fields, [name]: next });
    const text = { ...base, value: String(value ?? ''), onChange: set };
    switch (kind) {
      case 'flag':
        return <Checkbox key={name} {...base} value={value === true} onChange={set} />;
      case 'number':
        return <NumberField key={name} {...base} value={value as number | null} min={0} onChange={set} />;
      case 'llm':
        return <LlmField key={name} label={base.label} value={value as string | null} onChange={set} />;
      case 'modesOfContains':
      case 'matches':
        return (
          <Select
            key={name}
            {...base}
            value={String(value)}
            onChange={set}
            options={optionsOf<string>(words[kind])}
          />
        );
      case 'mono':
      case 'text':
        return <TextField key={name} {...text} mono={kind === 'mono'} />;
      default:
        return (
          <Textarea
            key={name}
            {...text}
            rows={kind === 'area' ? 4 : 3}
            mono={kind === 'json' || name === 'query'}
          />
        );
    }
  });

const One = ({
  grader,
  place,
  onChange,
  onRemove,
  disabledReason,
}: {
  grader: GraderValues;
  place: number;
  onChange: (grader: GraderValues) => void;
  onRemove: () => void;
  disabledReason: string | null | undefined;
}) => (
  <fieldset className={css.grader}>
    <legend>{words.graderOf(place)}</legend>
    <FieldRow>
      <Select
        label={words.graderType}
        value={grader.type}
        options={types}
        onChange={(type) => onChange({ ...newGrader(type as GraderType), name: grader.name })}
        disabledReason={disabledReason}
      />
      <TextField
        label={words.graderName}
        hint={words.graderNameHint}
        value={grader.name}
        onChange={(name) => onChange({ ...grader, name })}
        disabledReason={disabledReason}
      />
    </FieldRow>
    <Fields
      grader={grader}
      onChange={(fields) => onChange({ ...grader, fields })}
      disabledReason={disabledReason}
    />
    <FieldRow>
      <NumberField
        label={words.threshold}
        hint={words.thresholdHint}
        value={grader.threshold}
        min={0}
        max={1}
        onChange={(threshold) => onChange({ ...grader, threshold })}
        disabledReason={disabledReason}
      />
      <Checkbox
        label={words.negate}
        hint={words.negateHint}
        value={grader.negate}
        onChange={(negate) => onChange({ ...grader, negate })}
        disabledReason={disabledReason}
      />
    </FieldRow>
    <Bar>
      <Button
        small
        kind="quiet"
        aria-label={words.removeGrader(place)}
        disabledReason={disabledReason}
        onClick={onRemove}
      >
        {ui.remove}
      </Button>
    </Bar>
  </fieldset>
);

/** The graders of a dataset or a case. */
export const GraderList = ({
  value,
  onChange,
  error,
  disabledReason,
  most,
  none,
}: FieldProps<GraderValues[]> & { most: number; none: string }) => (
  <>
    {value.length === 0 && <p>{none}</p>}
    {value.map((grader, index) => (
      <One
        // biome-ignore lint/suspicious/noArrayIndexKey: graders keep their places; a new one comes at the end.
        key={index}
        grader={grader}
        place={index + 1}
        onChange={(changed) => onChange(value.map((one, i) => (i === index ? changed : one)))}
        onRemove={() => onChange(value.filter((_, i) => i !== index))}
        disabledReason={disabledReason}
      />
    ))}
    <AddToList
      label={words.addGrader}
      error={error}
      disabledReason={disabledReason ?? (value.length >= most ? words.mostGraders(most) : null)}
      onAdd={() => onChange([...value, newGrader('equals')])}
    />
  </>
);
