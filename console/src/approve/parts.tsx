import { type ReactNode, useId } from 'react';
import type { ApiProblem } from '../api/request.ts';
import { cx } from '../ui/cx.ts';
import { messageOf } from '../ui/problem-message.ts';

/** The parts of the approval page: those of `ui/` bring more than the whole page may weigh. */

interface ButtonProps {
  children: ReactNode;
  onClick: () => void;
  kind?: 'primary' | 'plain' | 'quiet';
  busy?: boolean;
  /** Why it does nothing. */
  off?: string | null;
  pressed?: boolean;
}

export const Button = ({ children, onClick, kind = 'plain', busy = false, off, pressed }: ButtonProps) => {
  const id = useId();
  return (
    <>
      <button
        type="button"
        className={cx('button', kind)}
        aria-disabled={busy || off ? true : undefined}
        aria-busy={busy || undefined}
        aria-pressed={pressed}
        aria-describedby={off ? id : undefined}
        onClick={() => !busy && !off && onClick()}
      >
        {children}
      </button>
      {off && (
        <span id={id} hidden>
          {off}
        </span>
      )}
    </>
  );
};

/** What a control needs to be one with its label, hint and error. */
export interface ControlProps {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': true | undefined;
}

export const Field = ({
  label,
  hint,
  error,
  children,
}: {
  label: string;
  hint?: string | null;
  error?: string | null | undefined;
  children: (control: ControlProps) => ReactNode;
}) => {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        'aria-describedby': hint || error ? `${id}-note` : undefined,
        'aria-invalid': error ? true : undefined,
      })}
      {(error || hint) && (
        <p id={`${id}-note`} className={error ? 'fault' : 'hint'}>
          {error ?? hint}
        </p>
      )}
    </div>
  );
};

export const TextArea = ({
  value,
  onChange,
  rows,
  mono = false,
  ...control
}: ControlProps & { value: string; onChange: (text: string) => void; rows: number; mono?: boolean }) => (
  <textarea
    {...control}
    rows={rows}
    value={value}
    className={mono ? 'mono' : undefined}
    spellCheck={!mono}
    autoCapitalize={mono ? 'off' : undefined}
    autoCorrect={mono ? 'off' : undefined}
    onInput={(event) => onChange(event.currentTarget.value)}
  />
);

export const Problem = ({ error, children }: { error: ApiProblem; children?: ReactNode }) => (
  <div role="alert" className="say bad">
    <p>{messageOf(error)}</p>
    {error.details.length > 0 && (
      <ul>
        {error.details.map(({ path, message }) => (
          <li key={`${path} ${message}`}>
            <code>{path}</code> {message}
          </li>
        ))}
      </ul>
    )}
    {children}
  </div>
);
