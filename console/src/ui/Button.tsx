import { type ButtonHTMLAttributes, type MouseEvent, type ReactNode, type Ref, useId } from 'react';
import css from './Button.module.css';
import { cx } from './cx.ts';
import { Link } from './Link.tsx';

/** `primary` is ink, and a page has one. `danger` deletes or ends something. `quiet` has no border. */
export type ButtonKind = 'primary' | 'plain' | 'quiet' | 'danger' | 'quiet-danger';

interface Look {
  kind?: ButtonKind;
  small?: boolean;
  wide?: boolean;
  children: ReactNode;
}

export interface ButtonProps
  extends Look,
    Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'children' | 'disabled'> {
  /** Reason why the button is off. It keeps its focus, and the reason is its description. */
  disabledReason?: string | null | undefined;
  /** The change has not ended: the button keeps its width and does nothing. */
  busy?: boolean;
  ref?: Ref<HTMLButtonElement>;
}

const classOf = ({ kind = 'plain', small, wide }: Omit<Look, 'children'>) =>
  cx(css.button, css[kind], small && css.small, wide && css.wide);

/** A button. It says what happens: "Pause schedule". */
export const Button = (props: ButtonProps) => {
  const { kind, small, wide, disabledReason, busy, children, onClick, className, ref, ...rest } = props;
  const reasonId = useId();
  const off = Boolean(disabledReason) || busy;
  const click = (event: MouseEvent<HTMLButtonElement>) => {
    if (off) event.preventDefault();
    else onClick?.(event);
  };
  return (
    <>
      <button
        type="button"
        {...rest}
        ref={ref}
        className={cx(classOf({ kind, small, wide }), className)}
        data-primary={kind === 'primary' || undefined}
        data-quiet={kind === 'quiet' || undefined}
        data-danger={kind === 'danger' || kind === 'quiet-danger' || undefined}
        aria-disabled={off || undefined}
        aria-busy={busy || undefined}
        aria-describedby={disabledReason ? reasonId : rest['aria-describedby']}
        title={disabledReason ?? rest.title}
        onClick={click}
      >
        {children}
      </button>
      {disabledReason && (
        <span id={reasonId} hidden>
          {disabledReason}
        </span>
      )}
    </>
  );
};

export const ButtonLink = ({
  href,
  kind,
  small,
  wide,
  disabledReason,
  keepScroll,
  label,
  children,
}: Look & {
  href: string;
  disabledReason?: string | null | undefined;
  /** It changes a part of this page: do not scroll to the top. */
  keepScroll?: boolean;
  label?: string;
}) =>
  disabledReason ? (
    <Button kind={kind} small={small} wide={wide} disabledReason={disabledReason} aria-label={label}>
      {children}
    </Button>
  ) : (
    <Link
      href={href}
      keepScroll={keepScroll}
      aria-label={label}
      className={classOf({ kind, small, wide })}
      data-primary={kind === 'primary' || undefined}
      data-quiet={kind === 'quiet' || undefined}
    >
      {children}
    </Link>
  );

export const Bar = ({ children, spread = false }: { children: ReactNode; spread?: boolean }) => (
  <div className={cx(css.bar, spread && css.spread)}>{children}</div>
);

/** A button that is a drawing. `label` is its name. */
export const IconButton = ({ label, ...rest }: Omit<ButtonProps, 'kind'> & { label: string }) => (
  <Button {...rest} kind="quiet" aria-label={label} title={label} className={cx(css.icon, rest.className)} />
);
