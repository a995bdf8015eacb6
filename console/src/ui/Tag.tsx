import type { ReactNode } from 'react';
import { cx } from './cx.ts';
import { Mark, type Outcome, wordOf } from './drawings/marks.tsx';
import css from './Tag.module.css';

/** An outcome: color, shape and word. `children` replaces the word: "Late by 41 s". */
export const OutcomeTag = ({ kind, children }: { kind: Outcome; children?: ReactNode }) => (
  <span className={cx(css.tag, css[kind])}>
    <Mark kind={kind} />
    {children ?? wordOf(kind)}
  </span>
);

/** A word with a meaning and no shape of its own: "high", "admin". */
export const Tag = ({ kind = 'due', children }: { kind?: Outcome; children: ReactNode }) => (
  <span className={cx(css.tag, css[kind])}>{children}</span>
);

/** The outcomes that a drawing shows, below or next to it. */
export const Legend = ({ kinds }: { kinds: readonly Outcome[] }) => (
  <ul className={css.legend}>
    {kinds.map((kind) => (
      <li key={kind}>
        <Mark kind={kind} /> {wordOf(kind).toLowerCase()}
      </li>
    ))}
  </ul>
);
