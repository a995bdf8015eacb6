import { type KeyboardEvent, type ReactNode, useId, useRef } from 'react';
import { number } from '../text/format.ts';
import { useChosenInView } from './chosen-in-view.ts';
import { Link } from './Link.tsx';
import css from './Tabs.module.css';

export interface Tab<V extends string> {
  value: V;
  label: string;
  href: string;
  count?: number | undefined;
}

/**
 * Tabs that are in the address (`?tab=`), so that a link opens the same one. Each is a link; arrow keys move between
 * them. `children` is the content of the open one.
 */
export const Tabs = <V extends string>({
  label,
  tabs,
  value,
  children,
}: {
  label: string;
  tabs: readonly Tab<V>[];
  value: V;
  children: ReactNode;
}) => {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  useChosenInView(list, value);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const links = [...(list.current?.querySelectorAll<HTMLElement>('[role="tab"]') ?? [])];
    const next = links.indexOf(document.activeElement as HTMLElement) + step;
    links[(next + links.length) % links.length]?.focus();
    event.preventDefault();
  };
  return (
    <>
      <div role="tablist" aria-label={label} className={css.tabs} ref={list} onKeyDown={onKeyDown}>
        {tabs.map((tab) => (
          <Link
            key={tab.value}
            href={tab.href}
            keepScroll
            role="tab"
            id={`${id}-${tab.value}`}
            aria-selected={tab.value === value}
            aria-controls={tab.value === value ? `${id}-panel` : undefined}
            tabIndex={tab.value === value ? 0 : -1}
            className={css.tab}
          >
            {tab.label}
            {tab.count !== undefined && <span className={css.count}>{number(tab.count)}</span>}
          </Link>
        ))}
      </div>
      {/* Without a name of its own: a field in it may have the name of the tab. */}
      <div role="tabpanel" id={`${id}-panel`}>
        {children}
      </div>
    </>
  );
};
