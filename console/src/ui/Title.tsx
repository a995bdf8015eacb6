import { useLayoutEffect, useRef, useState } from 'react';
import { ui } from '../text/en/ui.ts';
import { Button } from './Button.tsx';
import css from './Page.module.css';

/**
 * The heading of a page: at most three lines, with a button that shows the rest. A name of 200 characters would take
 * thirteen lines of a phone.
 */
export const Title = ({ text }: { text: string }) => {
  const heading = useRef<HTMLHeadingElement>(null);
  // By their texts: another heading of the same height is measured again, and is closed.
  const [cutText, setCutText] = useState<string | null>(null);
  const [openText, setOpenText] = useState<string | null>(null);
  const [cut, open] = [cutText === text, openText === text];
  useLayoutEffect(() => {
    const element = heading.current!;
    const observer = new ResizeObserver(() =>
      setCutText(element.scrollHeight > element.clientHeight + 1 ? text : null),
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [text]);
  return (
    <>
      <h1 ref={heading} tabIndex={-1} className={open ? undefined : css.title} title={cut ? text : undefined}>
        {text}
      </h1>
      {(cut || open) && (
        <Button small kind="quiet" aria-expanded={open} onClick={() => setOpenText(open ? null : text)}>
          {open ? ui.showLess : ui.showAll}
        </Button>
      )}
    </>
  );
};
