import { lazy, Suspense, useState } from 'react';
import type { Action } from '../api/mutation.ts';
import type { ApiProblem } from '../api/request.ts';
import { Button, type ButtonKind } from './Button.tsx';
import css from './Dialog.module.css';
import type { DialogProps } from './DialogFrame.tsx';
import { Problem } from './states.tsx';

const loadFrame = () => import('./DialogFrame.tsx');
const Frame = lazy(() => loadFrame().then(({ DialogFrame }) => ({ default: DialogFrame })));

/** Loads what dialogs need, so that the first one opens at once. */
export const preloadDialog = (): void => void loadFrame().catch(() => {});

/** A dialog. It is named by its action, keeps the focus inside, and gives it back when it closes. */
export const Dialog = (props: DialogProps) => {
  const [opened, setOpened] = useState(props.open);
  if (props.open && !opened) setOpened(true);
  // It stays after it was opened, so that it closes well.
  return opened ? (
    <Suspense>
      <Frame {...props} />
    </Suspense>
  ) : null;
};

export interface ActionDialogProps extends Omit<DialogProps, 'actions'> {
  action?: string;
  kind?: ButtonKind;
  /** The change that it asks about: the other three follow from it. */
  act?: Action<[], unknown>;
  onConfirm?: () => void;
  busy?: boolean;
  error?: ApiProblem | null;
  disabledReason?: string | null | undefined;
}

/** A dialog that asks before a change, or for what the change needs. Enter in a field confirms. */
export const ActionDialog = ({
  action,
  kind = 'primary',
  act,
  onConfirm = () => void act?.run(),
  busy = act?.busy,
  error = act?.error,
  disabledReason,
  children,
  ...dialog
}: ActionDialogProps) => (
  <Dialog {...dialog}>
    <form
      className={css.form}
      onSubmit={(event) => {
        event.preventDefault();
        // React hands it to a form around the button that opened the dialog, which would save as well.
        event.stopPropagation();
        if (!busy && !disabledReason) onConfirm();
      }}
    >
      {children}
      {error && <Problem error={error} />}
      <div className={css.formActions}>
        <Button type="submit" kind={kind} busy={busy} disabledReason={disabledReason}>
          {action ?? dialog.title}
        </Button>
      </div>
    </form>
  </Dialog>
);
