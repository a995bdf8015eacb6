import { useEffect, useEffectEvent } from 'react';

/** The dialogs that are open, the upper ones last. */
const open: symbol[] = [];

/** Events that an upper dialog has handled: the one below ignores them, also when the upper one is closed by then. */
const handled = new WeakSet<Event>();

/** An open list or menu has the key to itself: Mantine marks where it was pressed. */
const isTaken = (target: EventTarget | null): boolean =>
  target instanceof Element && target.getAttribute('data-mantine-stop-propagation') === 'true';

/**
 * Calls `onEscape` when Escape is pressed while a dialog is the uppermost. Mantine's own dialogs all close at once: that
 * under the sign-in closed, and with it what was typed was gone.
 */
export const useEscape = (isOpen: boolean, onEscape: () => void): void => {
  const close = useEffectEvent(onEscape);
  useEffect(() => {
    if (!isOpen) return;
    const dialog = Symbol();
    open.push(dialog);
    const listener = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.isComposing || isTaken(event.target)) return;
      if (open.at(-1) !== dialog || handled.has(event)) return;
      handled.add(event);
      close();
    };
    addEventListener('keydown', listener, { capture: true });
    return () => {
      open.splice(open.indexOf(dialog), 1);
      removeEventListener('keydown', listener, { capture: true });
    };
  }, [isOpen]);
};
