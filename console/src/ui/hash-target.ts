import { useRouterState } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

/** Id of the element that the address names after `#`. */
export const useHash = (): string => useRouterState({ select: ({ location }) => location.hash });

/**
 * Shows the element that the address names after `#`, once it is there: `ready` changes when more of the page is
 * rendered. It gets `data-target`, which a style can show.
 */
export const useHashTarget = (ready: unknown): void => {
  const hash = useHash();
  const shown = useRef('');
  // biome-ignore lint/correctness/useExhaustiveDependencies: `ready` says when to look again.
  useEffect(() => {
    if (hash === shown.current) return;
    const element = hash === '' ? null : document.getElementById(hash);
    if (!element && hash !== '') return;
    document.querySelector('[data-target]')?.removeAttribute('data-target');
    shown.current = hash;
    element?.setAttribute('data-target', '');
    element?.scrollIntoView({ block: 'center' });
    element?.focus({ preventScroll: true });
  }, [ready, hash]);
};
