import { useEffect, useEffectEvent } from 'react';
import { readPreference } from '../base/preferences.ts';

/** Reads if single-letter keys are on. People who speak to their computer switch them off (WCAG 2.1.4). */
export const letterKeysOn = (): boolean => readPreference('letter-keys') !== 'off';

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) &&
  !(target instanceof HTMLInputElement && /^(checkbox|radio|button)$/.test(target.type));

/** Finds an open dialog or menu, which has the keys to itself. */
const isCovered = (): boolean =>
  [...document.querySelectorAll('[role="dialog"], [role="menu"]')].some((each) => each.checkVisibility());

/**
 * Calls a handler when its key is pressed, outside of fields and dialogs. `Shift` is part of the key: `?`. A handler that
 * returns false leaves the key to the others: `k` is a row of a table, and API keys after `g`.
 */
export const useKeys = (handlers: Record<string, (event: KeyboardEvent) => unknown>): void => {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const handler = handlers[event.key];
    if (!handler || isTyping(event.target) || isCovered() || !letterKeysOn()) return;
    if (handler(event) !== false) event.preventDefault();
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent) => onKey(event);
    document.addEventListener('keydown', listener);
    return () => document.removeEventListener('keydown', listener);
  }, []);
};
