import type { ReactNode } from 'react';
import type { FieldProps } from '../api/index.ts';
import {
  Checkbox,
  NumberField,
  type Option,
  optionsOf,
  SecretField,
  SecretMap,
  SecretTextarea,
  Select,
  StoredSecretMap,
  Switch,
  storedEntries,
  Textarea,
  TextField,
} from '../ui/index.ts';
import type { SecretEntry } from '../ui/SecretMap.tsx';

/** Reads the part of a thing at a path. */
type Read = (path: string) => unknown;

interface FieldOptions<X, V> {
  /** If it is not the word of the catalog that has the name of the field. */
  label?: string;
  /** Stands above it. */
  heading?: string;
  hint?: string | ((values: V) => string | undefined) | undefined;
  /** An optional field that is empty is null for the API. */
  required?: boolean | ((values: V) => boolean);
  /** Which values have the field: the others send nothing of it. */
  when?: (values: V) => boolean;
  /** Which values show it. What is hidden is still sent. */
  shown?: (values: V) => boolean;
  /** Which values show it. null is sent with the others. */
  chosen?: (values: V) => boolean;
  /** Chosen when the thing is created, and never changed. */
  fixed?: boolean;
  /** Returns the other values that change with this one. */
  also?: (value: X, values: V) => Partial<NoInfer<V>>;
  /** Reads the value in another way than fields of its kind. */
  read?: (read: Read) => X;
  /** Sends another value than fields of its kind; undefined for none. */
  send?: (value: X, values: V) => unknown;
  /** null is also sent when the thing is created, so that the API refuses it. */
  sendsEmpty?: boolean;
}

/** The props of a control. */
export type Control<X> = FieldProps<X> & { label: string; hint: string | undefined; required: boolean };

/** A field of a form that creates and changes a thing. */
export interface Field<X, V> extends FieldOptions<X, V> {
  first: X;
  readAt: (read: Read, path: string) => X;
  sent: (value: X, required: boolean) => unknown;
  /** The API never shows the value. */
  secret?: true;
  /** The words of its values. */
  choices?: readonly Option[];
  control: (props: Control<X>, values: V) => ReactNode;
}

type TextOptions<V> = FieldOptions<string, V> & { mono?: boolean };

const emptyAsNull = <X,>(value: X, required: boolean): unknown => (value === '' && !required ? null : value);
/** A stored secret that stays is left out. */
const unlessStored = (value: string | null, required: boolean): unknown =>
  value === null ? undefined : emptyAsNull(value, required);
const readSecret = (read: Read, path: string): string | null => (read(`${path}_set`) ? null : '');
const readText = (read: Read, path: string): string => (read(path) as string | undefined) ?? '';

export const text = <V,>({
  mono = false,
  type = 'text',
  ...options
}: TextOptions<V> & { type?: 'text' | 'url' } = {}): Field<string, V> => ({
  ...options,
  first: '',
  readAt: readText,
  sent: emptyAsNull,
  control: (props) => <TextField {...props} type={type} mono={mono} />,
});

export const area = <V,>({
  mono = false,
  rows = 2,
  ...options
}: TextOptions<V> & { rows?: number } = {}): Field<string, V> => ({
  ...options,
  first: '',
  readAt: readText,
  sent: emptyAsNull,
  control: (props) => <Textarea {...props} rows={rows} mono={mono} />,
});

/** A list, one entry a line. */
export const lines = <V,>(options: TextOptions<V> & { rows?: number }): Field<string, V> => ({
  ...area(options),
  readAt: (read, path) => ((read(path) as string[] | undefined) ?? []).join('\n'),
  sent: (value) => value.split('\n').filter((line) => line.trim() !== ''),
});

export const numeric = <V,>({
  first = null,
  min,
  max,
  step,
  unit,
  ...options
}: FieldOptions<number | null, V> & {
  first?: number | null;
  min?: number;
  max?: number;
  step?: number;
  unit?: string;
}): Field<number | null, V> => ({
  ...options,
  first,
  readAt: (read, path) => (read(path) as number | undefined) ?? null,
  sent: (value) => value,
  control: (props) => <NumberField {...props} {...{ min, max, step, unit }} />,
});

export const flag = <V,>(first: boolean, options: FieldOptions<boolean, V> = {}): Field<boolean, V> => ({
  ...options,
  first,
  readAt: (read, path) => (read(path) as boolean | undefined) ?? first,
  sent: (value) => value,
  control: (props) => <Checkbox {...props} />,
});

/** As `flag`, shown as a switch: it is on or off, whatever else is in the form. */
export const onOff = <V,>(first: boolean, options: FieldOptions<boolean, V> = {}): Field<boolean, V> => ({
  ...flag(first, options),
  control: (props) => <Switch {...props} />,
});

/** A choice by the words of its values. */
export const choice = <X extends string, V>(
  first: NoInfer<X>,
  words: Readonly<Record<X, string>>,
  { notes, ...options }: FieldOptions<X, V> & { notes?: Readonly<Record<X, string>> } = {},
): Field<X, V> => {
  const choices = optionsOf(words, notes);
  return {
    ...options,
    first,
    readAt: (read, path) => (read(path) as X | undefined) ?? first,
    sent: (value) => value,
    choices,
    control: ({ onChange, ...props }) => (
      <Select {...props} onChange={(value) => onChange(value as X)} options={choices} />
    ),
  };
};

/** A choice that may be empty. */
export const optionalChoice = <V,>(
  words: Readonly<Record<string, string>>,
  options: FieldOptions<string | null, V> = {},
): Field<string | null, V> => {
  const choices = optionsOf(words);
  return {
    ...options,
    first: null,
    readAt: (read, path) => (read(path) as string | undefined) ?? null,
    sent: (value) => value,
    choices,
    control: (props) => <Select {...props} options={choices} clearable />,
  };
};

/** A secret: null while the stored one stays. */
export const secret = <V,>(options: FieldOptions<string | null, V> = {}): Field<string | null, V> => ({
  ...options,
  first: '',
  readAt: readSecret,
  sent: unlessStored,
  secret: true,
  control: (props) => <SecretField {...props} set />,
});

/** A secret of several lines: a private key. */
export const secretArea = <V,>(options: FieldOptions<string | null, V> = {}): Field<string | null, V> => ({
  ...secret(options),
  control: (props) => <SecretTextarea {...props} set />,
});

/** Entries with a name as a map. */
export const mapOf = <R,>(entries: readonly SecretEntry[], of: (value: string | null) => R) =>
  Object.fromEntries(entries.filter(({ name }) => name !== '').map(({ name, value }) => [name, of(value)]));

/** Returns whether the stored entries stay. They have no values here. */
export const areStored = (entries: readonly SecretEntry[]): boolean =>
  entries.length > 0 && entries.every(({ value }) => value === null);

/** Headers or variables that the API keeps or replaces together. It shows their names at `namesAt`. */
export const secretMap = <V,>(
  namesAt: string,
  options: FieldOptions<SecretEntry[], V> = {},
): Field<SecretEntry[], V> => ({
  ...options,
  first: [],
  readAt: (read) => storedEntries((read(namesAt) as string[] | undefined) ?? []),
  sent: (entries) => {
    if (areStored(entries)) return undefined;
    const map = mapOf(entries, (value) => value);
    return Object.keys(map).length === 0 ? null : map;
  },
  secret: true,
  control: ({ value, onChange, ...props }) => (
    <StoredSecretMap
      {...props}
      names={value.map(({ name }) => name)}
      value={areStored(value) ? null : value}
      onChange={(entries) => onChange(entries ?? [])}
    />
  ),
});

/** Headers or attributes of which each can be replaced alone. */
export const entries = <V,>({
  plain = false,
  ...options
}: FieldOptions<SecretEntry[], V> & { plain?: boolean } = {}): Field<SecretEntry[], V> => ({
  ...options,
  first: [],
  readAt: (read, path) =>
    Object.entries((read(path) as Record<string, unknown> | undefined) ?? {}).map(([name, value]) => ({
      name,
      value: typeof value === 'string' ? value : null,
    })),
  sent: (value) => mapOf(value, (secret) => secret ?? { set: true }),
  ...(!plain && { secret: true }),
  control: (props) => <SecretMap {...props} plain={plain} />,
});
