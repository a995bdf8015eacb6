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
  const [cut, setCut] = useState(false);
  const [opened, setOpened] = useState<string | null>(null);
  const open = opened === text;
  useLayoutEffect(() => {
    const element = heading.current!;
    const observer = new ResizeObserver(() => setCut(element.scrollHeight > element.clientHeight + 1));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return (
    <>
      <h1 ref={heading} tabIndex={-1} className={open ? undefined : css.title} title={cut ? text : undefined}>
        {text}
      </h1>
      {(cut || open) && (
        <Button small kind="quiet" onClick={() => setOpened(open ? null : text)}>
          {open ? ui.showLess : ui.showAll}
        </Button>
      )}
    </>
  );
};
