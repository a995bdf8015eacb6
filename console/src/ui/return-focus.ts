import { useEffect, useState } from 'react';

/** Moves the focus to the heading, from where a keyboard goes on if what had the focus is gone. */
export const focusHeading = (): void =>
  document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });

/** Time in which a list is read again after a change, in milliseconds. */
const watchedMs = 3_000;

/** A row that was deleted, or the button of a list that is not empty any more, takes the focus with it when it goes. */
const catchFocusOf = (element: Element): void => {
  const observer = new MutationObserver(() => {
    if (element.isConnected) return;
    observer.disconnect();
    if (document.activeElement === document.body) focusHeading();
  });
  observer.observe(document.body, { childList: true, subtree: true });
  setTimeout(() => observer.disconnect(), watchedMs);
};

/**
 * Gives the focus back to what had it when the dialog opened, or to the heading of the page if that is gone. Mantine does
 * it only for a dialog that stays mounted; most are not there while they are closed. A menu has given the focus to its
 * button by then.
 */
export const useReturnFocus = (isOpen: boolean): void => {
  const [opened, setOpened] = useState(false);
  const [origin, setOrigin] = useState<Element | null>(null);
  if (isOpen !== opened) {
    setOpened(isOpen);
    if (isOpen) setOrigin(document.activeElement);
  }
  useEffect(() => {
    if (!isOpen) return;
    return () => {
      const inDialog = document.activeElement;
      // A page that opens takes the focus itself, in the meantime.
      setTimeout(() => {
        const now = document.activeElement;
        if (now && now !== document.body && now !== inDialog) return;
        if (!(origin instanceof HTMLElement) || !origin.isConnected || origin === document.body) {
          focusHeading();
          return;
        }
        origin.focus({ preventScroll: true });
        catchFocusOf(origin);
      }, 10);
    };
  }, [isOpen, origin]);
};
