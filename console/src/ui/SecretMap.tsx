import { useId } from 'react';
import { ui } from '../text/en/ui.ts';
import { Button } from './Button.tsx';
import { PasswordField, StoredSecret, TextField } from './fields.tsx';
import css from './SecretMap.module.css';

/** A name and its secret. The value is null while the stored one stays. */
export interface SecretEntry {
  name: string;
  value: string | null;
}

/** The entries of a map as the API shows it: the names, without the values. */
export const storedEntries = (names: readonly string[]): SecretEntry[] =>
  names.map((name) => ({ name, value: null }));

interface SecretMapProps {
  label: string;
  name?: string;
  value: readonly SecretEntry[];
  onChange: (value: SecretEntry[]) => void;
  error?: string | undefined;
  hint?: string;
  disabledReason?: string | null | undefined;
  /** The values are no secrets and are shown. */
  plain?: boolean;
}

/**
 * Headers or variables that the API keeps or replaces as a whole. The value is null while the stored ones stay; "Replace"
 * asks for all their values.
 */
export const StoredSecretMap = ({
  names,
  value,
  onChange,
  ...props
}: Omit<SecretMapProps, 'value' | 'onChange'> & {
  names: readonly string[];
  value: readonly SecretEntry[] | null;
  onChange: (value: SecretEntry[] | null) => void;
}) =>
  value === null && names.length > 0 ? (
    <StoredSecret
      {...props}
      shown={<code>{names.join(', ')}</code>}
      onReplace={() => onChange(names.map((name) => ({ name, value: '' })))}
    />
  ) : (
    <SecretMap {...props} value={value ?? []} onChange={onChange} />
  );

/** Headers or variables: names that are shown, and values that are secret. */
export const SecretMap = ({
  label,
  name,
  value,
  onChange,
  error,
  hint,
  disabledReason,
  plain = false,
}: SecretMapProps) => {
  const id = useId();
  const change = (index: number, patch: Partial<SecretEntry>) =>
    onChange(value.map((entry, i) => (i === index ? { ...entry, ...patch } : entry)));
  return (
    <fieldset className={css.map} name={name} aria-describedby={error ? `${id}-error` : undefined}>
      <legend>{label}</legend>
      {hint && <p className={css.hint}>{hint}</p>}
      {value.map((entry, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the name of an entry changes while it is typed.
        <div key={index} className={css.entry}>
          <TextField
            label={ui.entryName(index + 1)}
            hiddenLabel
            placeholder={ui.entryNamePlaceholder}
            mono
            value={entry.name}
            onChange={(name) => change(index, { name })}
            disabledReason={disabledReason}
          />
          {entry.value === null ? (
            <span className={css.set}>
              {ui.secretSet}
              <Button
                small
                kind="quiet"
                disabledReason={disabledReason}
                aria-label={ui.replaceEntry(entry.name)}
                onClick={() => change(index, { value: '' })}
              >
                {ui.replace}
              </Button>
            </span>
          ) : plain ? (
            <TextField
              label={ui.entryValue(index + 1)}
              hiddenLabel
              value={entry.value}
              onChange={(value) => change(index, { value })}
              disabledReason={disabledReason}
            />
          ) : (
            <PasswordField
              label={ui.entryValue(index + 1)}
              hiddenLabel
              autoComplete="new-password"
              value={entry.value}
              onChange={(value) => change(index, { value })}
              disabledReason={disabledReason}
            />
          )}
          <Button
            small
            kind="quiet"
            disabledReason={disabledReason}
            aria-label={ui.removeEntry(entry.name || String(index + 1))}
            onClick={() => onChange(value.filter((_, i) => i !== index))}
          >
            {ui.remove}
          </Button>
        </div>
      ))}
      <Button
        small
        disabledReason={disabledReason}
        data-invalid={error ? true : undefined}
        onClick={() => onChange([...value, { name: '', value: '' }])}
      >
        {ui.addEntry}
      </Button>
      {error && (
        <p id={`${id}-error`} className={css.error} role="alert">
          {error}
        </p>
      )}
    </fieldset>
  );
};
