import { useState, useSyncExternalStore } from 'react';
import { readPreference, subscribePreferences, writePreference } from '../base/preferences.ts';

const folded = 'folded';

/**
 * Whether a group of the rail is open, and what changes that. This browser remembers the choice. The group of the present
 * page opens, also a folded one, until someone folds it there.
 */
export const useFolding = (group: string, isHere: boolean): { open: boolean; toggle: () => void } => {
  const name = `navigation.${group}`;
  const isFolded = useSyncExternalStore(subscribePreferences, () => readPreference(name) === folded);
  const [foldedHere, setFoldedHere] = useState(false);
  if (foldedHere && !isHere) setFoldedHere(false);
  const open = !isFolded || (isHere && !foldedHere);
  const toggle = () => {
    writePreference(name, open ? folded : null);
    setFoldedHere(open && isHere);
  };
  return { open, toggle };
};
