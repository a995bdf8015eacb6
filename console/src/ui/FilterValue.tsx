import { useState } from 'react';
import { ui } from '../text/en/ui.ts';
import { FilterChoice } from './FilterBar.tsx';

/**
 * A filter for an exact value that is typed, or chosen from some that are near at hand: not all that there are can be
 * listed.
 */
export const FilterValue = ({
  label,
  value,
  suggestions,
  onChange,
}: {
  label: string;
  value: string | undefined;
  suggestions: readonly string[];
  onChange: (value: string | undefined) => void;
}) => {
  const [typed, setTyped] = useState('');
  const text = typed.trim();
  const near = suggestions.filter((each) => each.toLowerCase().includes(text.toLowerCase()));
  const values = [
    ...new Set([...(text === '' ? [] : [text]), ...(value === undefined ? [] : [value]), ...near]),
  ];
  return (
    <FilterChoice
      label={label}
      value={value === undefined ? [] : [value]}
      options={values.slice(0, 50).map((each) => ({
        value: each,
        label: each,
        note: each === text && !near.includes(each) ? ui.exactly : undefined,
      }))}
      onSearch={setTyped}
      onOpen={() => setTyped('')}
      onChange={([chosen]) => onChange(chosen)}
    />
  );
};
