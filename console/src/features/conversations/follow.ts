import { useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from 'react';

/** The distance from the end of the page, in pixels, at which a reader follows new messages. */
const near = 96;

const isAtEnd = (): boolean => {
  const { scrollHeight } = document.documentElement;
  return scrollHeight - innerHeight - scrollY < near;
};

const toEnd = (): void => scrollTo({ top: document.documentElement.scrollHeight, behavior: 'instant' });

/**
 * Keeps the end of the page in view while the reader is there, and leaves the page where it is while they read above.
 * `ids` are those of the messages, the oldest first; `growth` changes with whatever makes the page longer at its end.
 * `start`: the page begins at its end. Returns how many messages came below since then, and how to go there.
 */
export const useFollow = (ids: readonly string[], growth: string, start: boolean) => {
  const atEnd = useRef(start);
  const latest = useRef(ids);
  latest.current = ids;
  // All that were there when the reader was at the end: the last of them may be void and go again.
  const [seen, setSeen] = useState<ReadonlySet<string>>(() => new Set(ids));
  const see = () => setSeen(new Set(latest.current));
  const onSeen = useEffectEvent(see);
  useEffect(() => {
    const onScroll = () => {
      atEnd.current = isAtEnd();
      if (atEnd.current) onSeen();
    };
    addEventListener('scroll', onScroll, { passive: true });
    addEventListener('resize', onScroll);
    // The router scrolls to the top of a new page when it is rendered, which is later than this.
    const frame = requestAnimationFrame(() => {
      if (start) toEnd();
      onScroll();
    });
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener('scroll', onScroll);
      removeEventListener('resize', onScroll);
    };
  }, [start]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `growth` says when the page has grown.
  useLayoutEffect(() => {
    if (!atEnd.current) return;
    toEnd();
    see();
  }, [growth]);
  return {
    newCount: ids.length - 1 - ids.findLastIndex((id) => seen.has(id)),
    goToEnd: () => {
      atEnd.current = true;
      toEnd();
      see();
    },
  };
};

/** Keeps the reader's place while `load` puts messages above it. */
export const useKeptPlace = (count: number): ((load: () => void) => void) => {
  const fromEnd = useRef<number | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `count` says when messages are there.
  useLayoutEffect(() => {
    if (fromEnd.current === null) return;
    scrollTo({ top: document.documentElement.scrollHeight - fromEnd.current, behavior: 'instant' });
    fromEnd.current = null;
  }, [count]);
  return (load) => {
    fromEnd.current = document.documentElement.scrollHeight - scrollY;
    load();
  };
};
