import { type ReactNode, useId } from 'react';
import css from './choices.module.css';
import { cx } from './cx.ts';

interface ToggleProps {
  label: string;
  name?: string;
  value: boolean;
  onChange: (value: boolean) => void;
  hint?: ReactNode;
  error?: ReactNode;
  /** Reason why it is fixed. It keeps its focus. */
  disabledReason?: string | null | undefined;
  hiddenLabel?: boolean;
}

const Toggle = ({
  label,
  name,
  value,
  onChange,
  hint,
  error,
  disabledReason,
  hiddenLabel,
  kind,
}: ToggleProps & { kind: 'switch' | 'checkbox' }) => {
  const id = useId();
  const note = disabledReason ?? hint;
  return (
    <div className={css.toggle}>
      <input
        id={id}
        type="checkbox"
        role={kind === 'switch' ? 'switch' : undefined}
        name={name}
        className={css[kind]}
        checked={value}
        aria-label={hiddenLabel ? label : undefined}
        aria-disabled={disabledReason ? true : undefined}
        aria-invalid={error ? true : undefined}
        aria-describedby={note || error ? `${id}-note` : undefined}
        onChange={(event) => !disabledReason && onChange(event.currentTarget.checked)}
      />
      {!hiddenLabel && (
        <div>
          <label htmlFor={id} className={css.name}>
            {label}
          </label>
          {(note || error) && (
            <p id={`${id}-note`} className={cx(css.note, error && css.error)}>
              {error ?? note}
            </p>
          )}
        </div>
      )}
    </div>
  );
};

/** Yes or no, in a form that is saved later. */
export const Checkbox = (props: ToggleProps) => <Toggle {...props} kind="checkbox" />;

/** On or off, at once. */
export const Switch = (props: ToggleProps) => <Toggle {...props} kind="switch" />;

interface SegmentedProps<V extends string> {
  label: string;
  name?: string;
  value: V;
  onChange: (value: V) => void;
  options: readonly { value: V; label: string }[];
  hiddenLabel?: boolean;
  error?: ReactNode;
}

/** Choose one of a few: List, Timeline, Calendar. Radio buttons, so that arrow keys work. */
export const Segmented = <V extends string>({
  label,
  name,
  value,
  onChange,
  options,
  hiddenLabel,
  error,
}: SegmentedProps<V>) => {
  const id = useId();
  return (
    <fieldset
      // Its legend names it too, but not for what finds fields by their labels.
      aria-labelledby={`${id}-label`}
      aria-describedby={error ? `${id}-error` : undefined}
    >
      <legend id={`${id}-label`} className={cx(css.legend, hiddenLabel && 'visually-hidden')}>
        {label}
      </legend>
      <div className={cx(css.segments, options.length > 3 && css.many)}>
        {options.map((option) => (
          <label key={option.value} className={css.segment}>
            <input
              type="radio"
              name={name ?? id}
              value={option.value}
              checked={option.value === value}
              onChange={() => onChange(option.value)}
            />
            <span>{option.label}</span>
          </label>
        ))}
      </div>
      {error && (
        <p id={`${id}-error`} className={cx(css.note, css.error)}>
          {error}
        </p>
      )}
    </fieldset>
  );
};

interface RadioGroupProps<V extends string> extends Omit<SegmentedProps<V>, 'options'> {
  options: readonly { value: V; label: string; hint?: ReactNode }[];
}

/** Choose one of a few that need a sentence each. */
export const RadioGroup = <V extends string>({
  label,
  name,
  value,
  onChange,
  options,
  hiddenLabel,
  error,
}: RadioGroupProps<V>) => {
  const id = useId();
  return (
    <fieldset>
      <legend className={cx(css.legend, hiddenLabel && 'visually-hidden')}>{label}</legend>
      <div className={css.radios}>
        {options.map((option) => (
          <div key={option.value} className={css.toggle}>
            <input
              id={`${id}-${option.value}`}
              type="radio"
              name={name ?? id}
              value={option.value}
              className={css.radio}
              checked={option.value === value}
              aria-describedby={option.hint ? `${id}-${option.value}-note` : undefined}
              onChange={() => onChange(option.value)}
            />
            <div>
              <label htmlFor={`${id}-${option.value}`} className={css.name}>
                {option.label}
              </label>
              {option.hint && (
                <p id={`${id}-${option.value}-note`} className={css.note}>
                  {option.hint}
                </p>
              )}
            </div>
          </div>
        ))}
      </div>
      {error && <p className={cx(css.note, css.error)}>{error}</p>}
    </fieldset>
  );
};

/** Choose any of a few: the days of a week. */
export const ToggleGroup = <V extends string>({
  label,
  value,
  onChange,
  options,
  error,
}: {
  label: string;
  value: readonly V[];
  onChange: (value: V[]) => void;
  options: readonly { value: V; label: string; name?: string }[];
  error?: ReactNode;
}) => (
  <fieldset>
    <legend className={css.legend}>{label}</legend>
    <div className={css.days}>
      {options.map((option) => (
        <label key={option.value} className={css.day}>
          <input
            type="checkbox"
            checked={value.includes(option.value)}
            aria-label={option.name}
            onChange={(event) =>
              onChange(
                options
                  .map((each) => each.value)
                  .filter((each) =>
                    each === option.value ? event.currentTarget.checked : value.includes(each),
                  ),
              )
            }
          />
          <span>{option.label}</span>
        </label>
      ))}
    </div>
    {error && <p className={cx(css.note, css.error)}>{error}</p>}
  </fieldset>
);
