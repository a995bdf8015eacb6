import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';

/** The content of a page comes within this time, or the page has become shorter since. */
const patienceMs = 4_000;
/** Events of a person who looks at something else. */
const moves = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const;

/** Scrolls to `top` as soon as the page is high enough, unless someone moves first. Returns how to give up. */
const scrollWhenHigh = (top: number): (() => void) => {
  const ending = new AbortController();
  const giveUp = () => ending.abort();
  const observer = new ResizeObserver(() => {
    scrollTo({ top, behavior: 'instant' });
    if (scrollY >= top - 1) giveUp();
  });
  observer.observe(document.body);
  const timer = setTimeout(giveUp, patienceMs);
  for (const move of moves) addEventListener(move, giveUp, { signal: ending.signal, passive: true });
  ending.signal.addEventListener('abort', () => {
    observer.disconnect();
    clearTimeout(timer);
  });
  return giveUp;
};

/**
 * Back leads to the same row of a list. The router scrolls when the page is rendered, and the rows of a list come after
 * that: then the page was too short to be scrolled so far.
 */
export const useKeptScroll = (): void => {
  const router = useRouter();
  useEffect(() => {
    const tops = new Map<string, number>();
    let returns = false;
    let giveUp = () => {};
    const keyOf = (location: { href: string; state: { __TSR_key?: string } }) =>
      location.state.__TSR_key ?? location.href;
    const endings = [
      router.history.subscribe(({ action: { type } }: { action: { type: string } }) => {
        returns = type === 'BACK' || type === 'FORWARD' || type === 'GO';
      }),
      router.subscribe('onBeforeLoad', ({ fromLocation }) => {
        giveUp();
        if (fromLocation) tops.set(keyOf(fromLocation), scrollY);
      }),
      router.subscribe('onRendered', ({ toLocation }) => {
        const top = tops.get(keyOf(toLocation)) ?? 0;
        if (returns && top > scrollY + 1) giveUp = scrollWhenHigh(top);
      }),
    ];
    return () => {
      giveUp();
      for (const end of endings) end();
    };
  }, [router]);
};
