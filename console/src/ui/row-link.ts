import { useRouter } from '@tanstack/react-router';
import { type RefObject, useEffect } from 'react';
import { splitAddress } from './Link.tsx';

/** Parts of a row that have a click of their own, the link of the row included. */
const own = 'a, button, input, label, select, textarea, summary, [role="button"]';

const rowLink = (target: EventTarget | null): HTMLAnchorElement | null =>
  target instanceof Element && !target.closest(own)
    ? (target.closest('tr')?.querySelector<HTMLAnchorElement>('a[data-row-link]') ?? null)
    : null;

/** Says that the pointer has just selected text of the row: its end is a click, too. */
const isSelecting = (row: Element | null): boolean => {
  const selection = getSelection();
  return selection !== null && !selection.isCollapsed && row !== null && selection.containsNode(row, true);
};

/**
 * Makes each row of `body` that has a link (`data-row-link`) lead there wherever one clicks. The row itself has the click,
 * and nothing is laid over it: WebKit positions no table rows, so a link that should cover its row covers the page. A click
 * with Ctrl, ⌘ or Shift, and one of the middle button, opens a new tab, as on the link.
 *
 * The listeners are the browser's, not React's, which also sends here what happens in menus and dialogs of the row.
 */
export const useRowLinks = (body: RefObject<HTMLElement | null>): void => {
  const router = useRouter();
  useEffect(() => {
    const element = body.current;
    if (!element) return;
    const listening = new AbortController();
    const on = (
      type: 'click' | 'auxclick' | 'mousedown' | 'mouseover',
      listener: (event: MouseEvent) => void,
    ) => element.addEventListener(type, listener, { signal: listening.signal });
    const openTab = (link: HTMLAnchorElement) => open(link.href, '_blank', 'noopener');
    on('click', (event) => {
      const link = rowLink(event.target);
      if (!link || isSelecting(link.closest('tr'))) return;
      if (event.ctrlKey || event.metaKey || event.shiftKey) openTab(link);
      else link.click();
    });
    on('auxclick', (event) => {
      const link = event.button === 1 && rowLink(event.target);
      if (link) openTab(link);
    });
    on('mousedown', (event) => {
      // The middle button would start to scroll.
      if (event.button === 1 && rowLink(event.target)) event.preventDefault();
    });
    let pointed: HTMLAnchorElement | null = null;
    on('mouseover', ({ target }) => {
      const link = rowLink(target);
      if (link === pointed) return;
      pointed = link;
      const href = link?.getAttribute('href');
      if (!href) return;
      const { to, search } = splitAddress(href);
      void router.preloadRoute({ to, search: () => search });
    });
    return () => listening.abort();
  });
};
