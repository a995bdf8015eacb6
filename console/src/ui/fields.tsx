import '@mantine/core/styles/UnstyledButton.layer.css';
import '@mantine/core/styles/ActionIcon.layer.css';
import '@mantine/core/styles/Input.layer.css';
import '@mantine/core/styles/PasswordInput.layer.css';
import {
  PasswordInput as MantinePasswordInput,
  Textarea as MantineTextarea,
  TextInput as MantineTextInput,
} from '@mantine/core';
import { type HTMLInputAutoCompleteAttribute, type ReactNode, type Ref, useId, useState } from 'react';
import { ui } from '../text/en/ui.ts';
import { Button } from './Button.tsx';
import { cx } from './cx.ts';
import css from './fields.module.css';

/** Frame around the value of a field. */
export interface FieldFrame {
  label: string;
  name?: string;
  error?: ReactNode;
  /** Purpose of the value, or good values. */
  hint?: ReactNode;
  /** Reason why the value is fixed. The text stays readable. */
  disabledReason?: string | null | undefined;
  required?: boolean;
  /** Hides the label from view, not from screen readers: for fields whose place says what they are. */
  hiddenLabel?: boolean;
}

/** Props of every field. `useForm().field('name')` gives `name`, `value`, `onChange` and `error`. */
export interface FieldBase<V> extends FieldFrame {
  value: V;
  onChange: (value: V) => void;
}

/** Props of Mantine's inputs for a field and its hint. */
const common = ({ label, name, error, hint, disabledReason, required, hiddenLabel }: FieldFrame) => ({
  label,
  name,
  error,
  description: disabledReason ?? hint,
  readOnly: Boolean(disabledReason),
  'aria-readonly': disabledReason ? true : undefined,
  required,
  withAsterisk: false,
  labelProps: hiddenLabel ? { className: 'visually-hidden' } : undefined,
});

interface TextLike extends FieldBase<string> {
  placeholder?: string;
  autoComplete?: HTMLInputAutoCompleteAttribute;
  /** Ids, expressions and other text that is code. */
  mono?: boolean;
  /** Text at the end of the field: a unit, an offset. */
  suffix?: ReactNode;
  autoFocus?: boolean;
  onBlur?: () => void;
}

export const TextField = ({
  type = 'text',
  inputRef,
  ...props
}: TextLike & {
  type?: 'text' | 'email' | 'url' | 'search' | 'time' | 'date' | 'datetime-local';
  inputRef?: Ref<HTMLInputElement>;
  /** Cuts what is longer without a word: only for what has one length, never for what a person writes. */
  maxLength?: number;
}) => (
  <MantineTextInput
    {...common(props)}
    ref={inputRef}
    type={type}
    value={props.value}
    onChange={(event) => props.onChange(event.currentTarget.value)}
    onBlur={props.onBlur}
    placeholder={props.placeholder}
    autoComplete={props.autoComplete ?? 'off'}
    maxLength={props.maxLength}
    data-autofocus={props.autoFocus || undefined}
    data-no-time={(type !== 'text' && props.value === '') || undefined}
    spellCheck={props.mono ? false : undefined}
    rightSection={props.suffix ? <span className={css.suffix}>{props.suffix}</span> : undefined}
    classNames={{ input: cx(props.mono && css.mono, props.suffix && css.suffixed), section: css.section }}
  />
);

const parseNumber = (text: string): number | null =>
  text.trim() === '' || !Number.isFinite(Number(text)) ? null : Number(text);

/** A whole number or a decimal one. The value is null while the field is empty or has something else. */
export const NumberField = ({
  value,
  onChange,
  min,
  max,
  step,
  unit,
  ...props
}: FieldBase<number | null> & { min?: number; max?: number; step?: number; unit?: string }) => {
  const [text, setText] = useState(value === null ? '' : String(value));
  const shown = parseNumber(text) === value ? text : value === null ? '' : String(value);
  return (
    <MantineTextInput
      {...common(props)}
      type="number"
      inputMode="decimal"
      min={min}
      max={max}
      step={step ?? 'any'}
      value={shown}
      onChange={(event) => {
        const written = event.currentTarget.value;
        setText(written);
        onChange(parseNumber(written));
      }}
      onWheel={(event) => event.currentTarget.blur()}
      rightSection={unit ? <span className={css.suffix}>{unit}</span> : undefined}
      classNames={{ root: css.narrow, input: cx(unit && css.suffixed), section: css.section }}
    />
  );
};

/** A secret that is typed or pasted. It can be shown; password managers may fill it. */
export const PasswordField = ({
  autoComplete,
  inputRef,
  ...props
}: TextLike & { inputRef?: Ref<HTMLInputElement> }) => (
  <MantinePasswordInput
    {...common(props)}
    ref={inputRef}
    // Mantine sets it on other fields only. A form goes to its first field that has it.
    aria-invalid={props.error ? true : undefined}
    value={props.value}
    onChange={(event) => props.onChange(event.currentTarget.value)}
    placeholder={props.placeholder}
    autoComplete={autoComplete ?? 'off'}
    spellCheck={false}
    data-autofocus={props.autoFocus || undefined}
    visibilityToggleFocusable
    visibilityToggleButtonProps={{ 'aria-label': ui.showSecret }}
    classNames={{ innerInput: cx(props.mono && css.mono) }}
  />
);

/** Stored value, with a button that replaces it: `shown` is "set", or the names of several. */
export const StoredSecret = ({
  label,
  shown,
  hint,
  error,
  disabledReason,
  onReplace,
}: FieldFrame & { shown: ReactNode; onReplace: () => void }) => {
  const id = useId();
  return (
    <div className={css.secret}>
      <span id={id} className={css.label}>
        {label}
      </span>
      {hint && <span className={css.hint}>{hint}</span>}
      <span className={css.set}>
        {shown}
        <Button
          small
          kind="quiet"
          disabledReason={disabledReason}
          // Not its name, which finds the field that takes its place.
          aria-describedby={error ? `${id} ${id}-error` : id}
          data-invalid={error ? true : undefined}
          onClick={onReplace}
        >
          {ui.replace}
        </Button>
      </span>
      {error && (
        <span id={`${id}-error`} className={css.error} role="alert">
          {error}
        </span>
      )}
    </div>
  );
};

/**
 * A stored secret, which the platform never sends: "set" with a button that replaces it. The value is null while the
 * stored one stays; leave it out of the request then.
 */
export const SecretField = ({
  value,
  onChange,
  set,
  ...props
}: FieldBase<string | null> & { set: boolean }) => {
  if (set && value === null) {
    return <StoredSecret {...props} shown={ui.secretSet} onReplace={() => onChange('')} />;
  }
  return <PasswordField {...props} value={value ?? ''} onChange={onChange} autoComplete="new-password" />;
};

/** Several lines of text. `onEnter`: what Enter does; Shift+Enter then begins a line. */
export const Textarea = ({
  rows = 4,
  wrap = true,
  onEnter,
  inputRef,
  ...props
}: TextLike & {
  rows?: number;
  /** false: long lines scroll sideways, so that a line of the text is a line on the screen. */
  wrap?: boolean;
  onEnter?: () => void;
  inputRef?: Ref<HTMLTextAreaElement>;
}) => (
  <MantineTextarea
    {...common(props)}
    ref={inputRef}
    onKeyDown={(event) => {
      // An Enter that ends a composition (Japanese, Chinese) chooses a word.
      const plain = event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing;
      if (!onEnter || !plain || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      onEnter();
    }}
    value={props.value}
    onChange={(event) => props.onChange(event.currentTarget.value)}
    placeholder={props.placeholder}
    rows={rows}
    wrap={wrap ? undefined : 'off'}
    resize="vertical"
    spellCheck={props.mono ? false : undefined}
    data-autofocus={props.autoFocus || undefined}
    classNames={{ input: cx(props.mono && css.mono) }}
  />
);

/** As `SecretField`, for a secret of several lines: a private key. A field of one line would join them. */
export const SecretTextarea = ({
  value,
  onChange,
  set,
  ...props
}: FieldBase<string | null> & { set: boolean }) => {
  if (set && value === null) {
    return <StoredSecret {...props} shown={ui.secretSet} onReplace={() => onChange('')} />;
  }
  return <Textarea {...props} value={value ?? ''} onChange={onChange} mono />;
};
