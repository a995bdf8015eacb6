import type { ReactNode } from 'react';
import { Bar, Button } from './Button.tsx';
import css from './fields.module.css';

/** The end of a list of fields: what is wrong with it, and the button that adds to it. */
export const AddToList = ({
  label,
  error,
  disabledReason,
  onAdd,
  children,
}: {
  label: string;
  error: string | undefined;
  disabledReason?: string | null | undefined;
  onAdd: () => void;
  children?: ReactNode;
}) => (
  <>
    {error && (
      <p className={css.error} role="alert">
        {error}
      </p>
    )}
    <Bar>
      <Button small data-invalid={error ? true : undefined} disabledReason={disabledReason} onClick={onAdd}>
        {label}
      </Button>
      {children}
    </Bar>
  </>
);
