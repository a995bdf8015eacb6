import { useEffect, useRef } from 'react';
import { focusHeading } from './return-focus.ts';

/** Time in which a dialog closes and gives its focus back to a button that is gone. */
const settleMs = 400;

/**
 * Gives the focus to the heading if the button that had it is gone, because `state` allows other actions: a keyboard goes
 * on from there, not from the top of the page.
 */
export const useKeptFocus = (state: string): void => {
  const before = useRef(state);
  useEffect(() => {
    if (before.current === state) return;
    before.current = state;
    const keep = () => {
      if (document.activeElement === null || document.activeElement === document.body) focusHeading();
    };
    keep();
    const timer = setTimeout(keep, settleMs);
    return () => clearTimeout(timer);
  }, [state]);
};
