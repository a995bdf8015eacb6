import '@mantine/core/styles/Input.layer.css';
import { Input } from '@mantine/core';
import { useId } from 'react';
import type { FieldBase } from './fields.tsx';
import type { Option } from './Select.tsx';

/** Choose one of a few with the browser's own list, where the code of `Select` would be more than all else of a page. */
export const NativeSelect = ({
  label,
  value,
  options,
  onChange,
}: FieldBase<string> & { options: readonly Option[] }) => {
  const id = useId();
  return (
    <Input.Wrapper label={label} id={id}>
      <Input
        component="select"
        id={id}
        value={value}
        pointer
        rightSectionPointerEvents="none"
        rightSection={
          <svg width="10" height="14" aria-hidden="true">
            <path d="M2 5.5 5 2.5l3 3m-6 3 3 3 3-3" fill="none" stroke="var(--text-3)" strokeWidth="1.25" />
          </svg>
        }
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        {options.map(({ value: each, label: words, note }) => (
          <option key={each} value={each}>
            {note === undefined ? words : `${words}, ${note}`}
          </option>
        ))}
      </Input>
    </Input.Wrapper>
  );
};
