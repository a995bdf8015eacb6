import { type ReactNode, useState } from 'react';
import { common } from '../text/en/common.ts';
import { ui } from '../text/en/ui.ts';
import { Bar, Button } from './Button.tsx';
import choices from './choices.module.css';
import css from './selection.module.css';

/** Selected rows: some by their keys, or all that match the filter. */
export interface Selection {
  keys: readonly string[];
  /** All that match the filter, also those on other pages. */
  everything: boolean;
  has: (key: string) => boolean;
  toggle: (key: string) => void;
  set: (keys: readonly string[]) => void;
  selectEverything: () => void;
  clear: () => void;
}

/** The state of a selection. Call `clear` after the action, and when the filter changes. */
export const useSelection = (): Selection => {
  const [keys, setKeys] = useState<readonly string[]>([]);
  const [everything, setEverything] = useState(false);
  const set = (next: readonly string[]) => {
    setKeys(next);
    setEverything(false);
  };
  return {
    keys,
    everything,
    has: (key) => everything || keys.includes(key),
    toggle: (key) => set(keys.includes(key) ? keys.filter((each) => each !== key) : [...keys, key]),
    set,
    selectEverything: () => setEverything(true),
    clear: () => set([]),
  };
};

const Box = ({
  label,
  checked,
  some,
  onChange,
}: {
  label: string;
  checked: boolean;
  some?: boolean;
  onChange: () => void;
}) => (
  <input
    ref={(element) => {
      if (element) element.indeterminate = Boolean(some) && !checked;
    }}
    type="checkbox"
    className={choices.checkbox}
    aria-label={label}
    checked={checked}
    onChange={onChange}
  />
);

export const SelectAll = ({ selection, keys }: { selection: Selection; keys: readonly string[] }) => {
  const all = keys.length > 0 && keys.every((key) => selection.has(key));
  return (
    <Box
      label={ui.selectAll}
      checked={all}
      some={keys.some((key) => selection.has(key))}
      onChange={() => selection.set(all ? [] : keys)}
    />
  );
};

export const SelectRow = ({
  selection,
  rowKey,
  name,
}: {
  selection: Selection;
  rowKey: string;
  name: string;
}) => (
  <Box label={ui.selectRow(name)} checked={selection.has(rowKey)} onChange={() => selection.toggle(rowKey)} />
);

/**
 * The actions for the selected rows. The bar says exactly how many they are; "Select all N that match" appears when all
 * rows of the page are selected and there are more.
 */
export const SelectionBar = ({
  selection,
  shown,
  matching,
  children,
}: {
  selection: Selection;
  shown: number;
  /** The number that match the filter; null if it is not known. */
  matching: number | null;
  children: ReactNode;
}) => {
  if (selection.keys.length === 0 && !selection.everything) return null;
  const count = selection.everything ? (matching ?? shown) : selection.keys.length;
  const more =
    !selection.everything && selection.keys.length >= shown && matching !== null && matching > shown;
  return (
    <div className={css.bar} role="toolbar" aria-label={ui.selection}>
      <Bar>
        <span className={css.count}>{ui.selected(count)}</span>
        {more && (
          <Button small kind="quiet" onClick={selection.selectEverything}>
            {ui.selectEverything(matching)}
          </Button>
        )}
        {children}
        <Button small kind="quiet" onClick={selection.clear}>
          {common.clear}
        </Button>
      </Bar>
    </div>
  );
};
