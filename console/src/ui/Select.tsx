import '@mantine/core/styles/UnstyledButton.layer.css';
import '@mantine/core/styles/ScrollArea.layer.css';
import '@mantine/core/styles/Paper.layer.css';
import '@mantine/core/styles/Popover.layer.css';
import '@mantine/core/styles/CloseButton.layer.css';
import '@mantine/core/styles/Input.layer.css';
import '@mantine/core/styles/Combobox.layer.css';
import '@mantine/core/styles/Pill.layer.css';
import '@mantine/core/styles/PillsInput.layer.css';
import {
  type ComboboxItem,
  MultiSelect as MantineMultiSelect,
  Select as MantineSelect,
  type OptionsFilter,
} from '@mantine/core';
import type { FocusEvent, ReactNode } from 'react';
import { ui } from '../text/en/ui.ts';
import type { FieldBase, FieldFrame } from './fields.tsx';
import css from './Select.module.css';

/** A choice. `note` stands after the label in a quieter grey: an offset, a kind. */
export interface Option {
  value: string;
  label: string;
  note?: string | undefined;
  disabled?: boolean;
}

interface ChoiceProps {
  options: readonly Option[];
  placeholder?: string;
  /** Type to search. On by default when there are more than eight options. */
  searchable?: boolean;
  /** Called with what is typed, if the server searches: for agents and time zones. `options` are then shown as they are. */
  onSearch?: (text: string) => void;
  /** Called when the list opens, for options that are loaded then. */
  onOpen?: () => void;
  /** Shown instead of the options: "Loading", or that nothing matches. */
  nothing?: ReactNode;
}

const renderOption = ({ option }: { option: ComboboxItem }) => (
  <span className={css.option}>
    <span>{option.label}</span>
    {(option as Option).note && <span className={css.note}>{(option as Option).note}</span>}
  </span>
);

/** The server has filtered already. */
const everything: OptionsFilter = ({ options }) => options;

const shared = (props: FieldFrame & ChoiceProps) => ({
  name: props.name,
  label: props.label,
  error: props.error,
  description: props.disabledReason ?? props.hint,
  readOnly: Boolean(props.disabledReason),
  required: props.required,
  withAsterisk: false,
  data: props.options as Option[],
  placeholder: props.placeholder,
  searchable: props.searchable ?? (props.onSearch !== undefined || props.options.length > 8),
  nothingFoundMessage: props.nothing ?? ui.nothingMatches,
  onDropdownOpen: props.onOpen,
  // A list that opens by itself hides the fields below from who only passes, and the error of its own field.
  openOnFocus: false,
  // Typing replaces the chosen one, instead of adding to its name.
  onFocus: (event: FocusEvent<HTMLInputElement>) => event.currentTarget.select(),
  renderOption,
  maxDropdownHeight: 280,
  // A closed list must not be found by the label of the field.
  comboboxProps: { keepMounted: false, offset: 4 },
  labelProps: props.hiddenLabel ? { className: 'visually-hidden' } : undefined,
  ...(props.onSearch ? { onSearchChange: props.onSearch, filter: everything } : {}),
});

/** Mantine's is 22 px wide, and a target has at least 24. */
const clearButton = { 'aria-label': ui.clearChoice, size: '24px' };

/** Choose one. Choosing the chosen one again keeps it. */
export const Select = ({
  value,
  onChange,
  clearable = false,
  ...props
}: FieldBase<string | null> & ChoiceProps & { clearable?: boolean }) => (
  <MantineSelect
    {...shared(props)}
    value={value}
    onChange={(next) => onChange(next)}
    allowDeselect={false}
    clearable={clearable}
    clearButtonProps={clearButton}
    checkIconPosition="right"
  />
);

export const MultiSelect = ({ value, onChange, ...props }: FieldBase<string[]> & ChoiceProps) => (
  <MantineMultiSelect
    {...shared(props)}
    classNames={{ pill: css.pill }}
    value={value}
    onChange={(next) => onChange(next as string[])}
    hidePickedOptions={false}
    clearable
    clearButtonProps={clearButton}
    checkIconPosition="right"
  />
);
