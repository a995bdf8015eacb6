import '@mantine/core/styles/UnstyledButton.layer.css';
import '@mantine/core/styles/ScrollArea.layer.css';
import '@mantine/core/styles/Paper.layer.css';
import '@mantine/core/styles/Popover.layer.css';
import '@mantine/core/styles/Input.layer.css';
import '@mantine/core/styles/Combobox.layer.css';
import { Combobox, useCombobox } from '@mantine/core';
import { type ReactNode, useEffect, useEffectEvent, useRef, useState } from 'react';
import { common } from '../text/en/common.ts';
import { ui } from '../text/en/ui.ts';
import { Button } from './Button.tsx';
import { cx } from './cx.ts';
import css from './FilterBar.module.css';
import { CheckIcon } from './icons.tsx';
import { useKeys } from './keys.ts';
import { useNothingMatches } from './nothing-matches.ts';
import type { Option } from './Select.tsx';

/** The filters of a list, and what else stands above it. `set` is how many filters are set. */
export const FilterBar = ({
  children,
  aside,
  set,
  onClear,
}: {
  children: ReactNode;
  /** At the end: the order, the Live switch. */
  aside?: ReactNode;
  set: number;
  onClear: () => void;
}) => {
  // A list that nothing matches has the button itself.
  const clearable = !useNothingMatches() && set > 0;
  return (
    <search className={css.bar} aria-label={ui.narrow}>
      {children}
      {clearable && (
        <Button small kind="quiet" onClick={onClear}>
          {common.clearFilters}
        </Button>
      )}
      {aside && <div className={css.aside}>{aside}</div>}
    </search>
  );
};

/** The text filter of a list: `/` goes to it. The list follows 250 ms after the last letter. */
export const FilterText = ({
  value,
  onChange,
  placeholder,
  label = ui.filter,
}: {
  value: string;
  onChange: (value: string) => void;
  placeholder?: string | undefined;
  label?: string;
}) => {
  const [text, setText] = useState(value);
  const [sent, setSent] = useState(value);
  const input = useRef<HTMLInputElement>(null);
  // The address changed in another way: "Clear filters", or Back.
  if (value !== sent) {
    setSent(value);
    setText(value);
  }
  const send = useEffectEvent((next: string) => {
    if (next === sent) return;
    setSent(next);
    onChange(next);
  });
  useEffect(() => {
    const timer = setTimeout(() => send(text.trim()), 250);
    return () => clearTimeout(timer);
  }, [text]);
  useKeys({ '/': () => input.current?.focus() });
  return (
    <input
      ref={input}
      // Not of the type search: people and tests find it as any other field, by its role and its name.
      type="text"
      enterKeyHint="search"
      className={cx(css.text, text !== '' && css.set)}
      aria-label={label}
      placeholder={placeholder ?? label}
      value={text}
      autoComplete="off"
      spellCheck={false}
      onChange={(event) => setText(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && text !== '') setText('');
      }}
    />
  );
};

/**
 * A filter with choices: dashed while it is not set. With `multiple` any number can be chosen. `onSearch` is for choices
 * that the server finds, `onOpen` for those that are read when someone looks at them.
 */
export const FilterChoice = ({
  label,
  value,
  options,
  onChange,
  multiple = false,
  onSearch,
  onOpen,
}: {
  label: string;
  value: readonly string[];
  options: readonly Option[];
  onChange: (value: string[]) => void;
  multiple?: boolean;
  onSearch?: (text: string) => void;
  onOpen?: () => void;
}) => {
  const [search, setSearch] = useState('');
  const searchable = onSearch !== undefined || options.length > 8;
  const combobox = useCombobox({
    onDropdownClose: () => {
      combobox.resetSelectedOption();
      combobox.focusTarget();
      setSearch('');
    },
    onDropdownOpen: () => {
      onOpen?.();
      combobox.selectActiveOption();
      if (searchable) combobox.focusSearchInput();
    },
  });
  const words = value.map((each) => options.find((option) => option.value === each)?.label ?? each);
  const shown = onSearch
    ? options
    : options.filter((option) => option.label.toLowerCase().includes(search.toLowerCase()));
  const choose = (chosen: string) => {
    if (!multiple) {
      onChange(value.includes(chosen) ? [] : [chosen]);
      combobox.closeDropdown();
    } else {
      onChange(value.includes(chosen) ? value.filter((each) => each !== chosen) : [...value, chosen]);
    }
  };
  return (
    <Combobox
      store={combobox}
      width={260}
      keepMounted={false}
      position="bottom-start"
      offset={4}
      onOptionSubmit={choose}
    >
      <Combobox.Target targetType="button" withAriaAttributes>
        <button
          type="button"
          className={cx(css.chip, value.length > 0 && css.set)}
          onClick={() => combobox.toggleDropdown()}
        >
          <span className={css.label}>{label}</span>
          {words.length > 0 && (
            <span className={css.words}>
              {words.length > 2 ? ui.countOf(words.length) : words.join(', ')}
            </span>
          )}
        </button>
      </Combobox.Target>
      <Combobox.Dropdown>
        {searchable && (
          <Combobox.Search
            aria-label={ui.search}
            placeholder={ui.search}
            value={search}
            onChange={(event) => {
              setSearch(event.currentTarget.value);
              onSearch?.(event.currentTarget.value);
              combobox.updateSelectedOptionIndex();
            }}
          />
        )}
        <Combobox.Options mah={280} style={{ overflowY: 'auto' }} aria-label={label}>
          {shown.length === 0 && <Combobox.Empty>{ui.nothingMatches}</Combobox.Empty>}
          {shown.map((option) => (
            <Combobox.Option
              key={option.value}
              value={option.value}
              active={value.includes(option.value)}
              className={css.option}
            >
              <span className={css.check}>{value.includes(option.value) && <CheckIcon />}</span>
              <span className={css.grow}>{option.label}</span>
              {option.note && <span className={css.note}>{option.note}</span>}
            </Combobox.Option>
          ))}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  );
};

/** A filter with one choice at most. */
export const FilterSelect = <V extends string>({
  value,
  options,
  onChange,
  ...more
}: {
  label: string;
  value: V | undefined;
  options: readonly (Option & { value: V })[];
  onChange: (value: V | undefined) => void;
  onSearch?: (text: string) => void;
  onOpen?: () => void;
}) => (
  <FilterChoice
    {...more}
    value={value === undefined ? [] : [value]}
    options={options}
    onChange={([chosen]) => onChange(options.find((option) => option.value === chosen)?.value)}
  />
);
