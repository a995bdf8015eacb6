import type { AdvancedSettingsSchema } from '../../api/types.gen.ts';
import { common } from '../../text/en/common.ts';
import { settings as words } from '../../text/en/settings.ts';
import { number } from '../../text/index.ts';
import { Button, NumberField, Select, Switch, Tag, TextField } from '../../ui/index.ts';
import css from './SettingField.module.css';

export type Definition = AdvancedSettingsSchema[number];
export type Value = boolean | number | string | null;

export const shown = (value: Value | undefined): string =>
  typeof value === 'boolean'
    ? value
      ? common.on
      : common.off
    : typeof value === 'number'
      ? number(value)
      : (value ?? '');

const Input = ({
  definition,
  value,
  onChange,
  error,
  disabledReason,
}: {
  definition: Definition;
  value: Value;
  onChange: (value: Value) => void;
  error: string | undefined;
  disabledReason: string | null;
}) => {
  const { name, type } = definition;
  const base = { name, label: name, hiddenLabel: true, error, disabledReason };
  if (type === 'boolean') return <Switch {...base} value={value === true} onChange={onChange} />;
  if (type === 'integer') {
    const { minimum, maximum } = definition;
    return (
      <NumberField
        {...base}
        value={typeof value === 'number' ? value : null}
        onChange={onChange}
        {...(minimum === undefined ? {} : { min: minimum })}
        {...(maximum === undefined ? {} : { max: maximum })}
      />
    );
  }
  return definition.enum ? (
    <Select
      {...base}
      value={String(value)}
      onChange={onChange}
      options={definition.enum.map((each) => ({ value: each, label: each }))}
    />
  ) : (
    <TextField {...base} value={String(value ?? '')} onChange={onChange} />
  );
};

export const SettingField = (props: {
  definition: Definition;
  value: Value;
  onChange: (value: Value) => void;
  error: string | undefined;
  disabledReason: string | null;
}) => {
  const { definition, value, onChange, disabledReason } = props;
  const { name, description, minimum, maximum } = definition;
  const differs = value !== definition.default;
  const facts = [words.bounds(minimum, maximum), words.defaultIs(shown(definition.default))];
  return (
    <div className={css.setting} id={name}>
      <div>
        <code>{name}</code> {differs && <Tag kind="manual">{words.changedTag}</Tag>}
        <p>{description}</p>
        <p className={css.facts}>{facts.filter(Boolean).join(', ')}</p>
      </div>
      <div className={css.value}>
        <Input {...props} />
        {differs && (
          <Button
            small
            kind="quiet"
            aria-label={words.resetOf(name)}
            disabledReason={disabledReason}
            onClick={() => onChange(definition.default)}
          >
            {words.reset}
          </Button>
        )}
      </div>
    </div>
  );
};
