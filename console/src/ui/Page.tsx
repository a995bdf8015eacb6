import { Fragment, type ReactNode, type Ref, useEffect } from 'react';
import { cx } from './cx.ts';
import { Link } from './Link.tsx';
import css from './Page.module.css';
import { Title } from './Title.tsx';
import { useTitle } from './title.ts';

/** A step above this page: "Schedules / Ledger". */
export interface Crumb {
  label: string;
  href: string;
}

export interface PageProps {
  /** The heading. Pages of the navigation use the text of their link (`text/en/pages.ts`). */
  title: string;
  /** Status before the title in the title of the window. */
  titlePrefix?: string | undefined;
  crumbs?: readonly Crumb[];
  /** One or two sentences that say how things are. '' keeps the place of one that is not known yet. */
  lead?: ReactNode;
  actions?: ReactNode;
  wide?: boolean;
  children?: ReactNode;
}

export const Page = ({ title, titlePrefix, crumbs, lead, actions, wide, children }: PageProps) => {
  const setTitle = useTitle();
  useEffect(() => setTitle([titlePrefix, title]), [setTitle, titlePrefix, title]);
  return (
    <div className={cx(css.page, wide && css.wide)}>
      <header className={css.head}>
        <div className={css.words}>
          {crumbs && crumbs.length > 0 && (
            <div className={css.crumbs}>
              {crumbs.map((crumb, index) => (
                <Fragment key={crumb.href}>
                  {index > 0 && <span aria-hidden="true">/</span>}
                  <Link href={crumb.href} className={crumb.label.length > 24 ? css.long : undefined}>
                    {crumb.label}
                  </Link>
                </Fragment>
              ))}
            </div>
          )}
          <Title text={title} />
          {(lead || lead === '') && <div className={css.lead}>{lead}</div>}
        </div>
        {actions && <div className={css.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  );
};

/** The part of a header sentence that matters, in the color of what it says. */
export const Emphasis = ({
  tone,
  children,
}: {
  tone?: 'late' | 'missing' | 'on-time';
  children: ReactNode;
}) => <b className={cx(css.emphasis, tone && css[tone])}>{children}</b>;

/** A part of a page with a title above its box. It is a region that has the name of its title. */
export const Section = ({
  title,
  note,
  aside,
  children,
  label,
  ref,
}: {
  title?: string;
  note?: ReactNode;
  /** At the end of the line of the title: a legend, a button. */
  aside?: ReactNode;
  children: ReactNode;
  label?: string;
  ref?: Ref<HTMLElement>;
}) => (
  <section ref={ref} tabIndex={ref ? -1 : undefined} className={css.section} aria-label={label ?? title}>
    {(title || note || aside) && (
      <header>
        {title && <h2>{title}</h2>}
        {note && <p>{note}</p>}
        {aside && <div className={css.aside}>{aside}</div>}
      </header>
    )}
    {children}
  </section>
);

/** A box with a border. It holds lists, tables and drawings; never another box. */
export const Box = ({
  title,
  children,
  padded = false,
  scroll = false,
  sunken = false,
}: {
  /** A heading inside the box, which is a region then: "Why?", "Preview". */
  title?: string;
  children: ReactNode;
  padded?: boolean;
  scroll?: boolean;
  sunken?: boolean;
}) => {
  const className = cx(css.box, padded && css.padded, scroll && css.scroll, sunken && css.sunken);
  if (title !== undefined) {
    return (
      <section className={className} aria-label={title}>
        <h2 className={css.boxTitle}>{title}</h2>
        {children}
      </section>
    );
  }
  return (
    <div className={className} {...(scroll ? { tabIndex: 0 } : {})}>
      {children}
    </div>
  );
};

/** Content and, at its side, facts of 332 px. On a phone the facts follow. */
export const Columns = ({ children, side }: { children: ReactNode; side: ReactNode }) => (
  <div className={css.columns}>
    <div>{children}</div>
    <div>{side}</div>
  </div>
);

/**
 * A form: its fields at the left in a column of at most 640 px, its buttons under a line, and what it leads to (a
 * preview) at the side. On a phone the preview stands before the buttons. The API checks the values.
 */
export const Form = ({
  children,
  onSubmit,
  actions,
  side,
  wide,
}: {
  children: ReactNode;
  wide?: boolean | undefined;
  onSubmit: () => void;
  /** The first button submits. */
  actions: ReactNode;
  side?: ReactNode;
}) => (
  <form
    className={cx(css.form, side && css.withSide, wide && css.wideForm)}
    noValidate
    onSubmit={(event) => {
      event.preventDefault();
      event.stopPropagation();
      onSubmit();
    }}
  >
    <div className={css.fields}>{children}</div>
    {side && <div className={css.side}>{side}</div>}
    <div className={css.formActions}>{actions}</div>
  </form>
);

/** Fields next to each other. `even`: they share the width of the form. */
export const FieldRow = ({ children, even = false }: { children: ReactNode; even?: boolean }) => (
  <div className={cx(css.fieldRow, even && css.even)}>{children}</div>
);

/** Facts: a quiet name and a value each. Entries that are null or false are left out. */
export const Facts = ({
  facts,
}: {
  facts: readonly (readonly [string, ReactNode] | null | false | undefined)[];
}) => (
  <dl className={css.facts}>
    {facts.map(
      (fact) =>
        fact && (
          <Fragment key={fact[0]}>
            <dt>{fact[0]}</dt>
            <dd>{fact[1]}</dd>
          </Fragment>
        ),
    )}
  </dl>
);

/** Text in the second or third grey. */
export const Muted = ({
  children,
  third = false,
  small = false,
}: {
  children: ReactNode;
  third?: boolean;
  small?: boolean;
}) => <span className={cx(third ? css.third : css.second, small && css.small)}>{children}</span>;

/** A value with what stands below it in a cell: name over agent, words over expression. */
export const TwoLines = ({ children, below }: { children: ReactNode; below?: ReactNode }) => (
  <>
    <span>{children}</span>
    {below && <span className={css.below}>{below}</span>}
  </>
);
