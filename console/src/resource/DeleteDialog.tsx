import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import {
  type ChangeId,
  call,
  discardUnsaved,
  type InputOf,
  type Params,
  refreshAfter,
  useAction,
} from '../api/index.ts';
import type { ApiProblem } from '../api/request.ts';
import { common } from '../text/en/common.ts';
import { ActionDialog, Button, notify } from '../ui/index.ts';

/** The operations that delete something. */
export type DeleteId = Extract<ChangeId, `delete${string}`>;

interface Deletion<O extends DeleteId> {
  operation: O;
  params: Params<O>;
  /** The version that the person saw. */
  etag?: string | null;
  title: string;
  /** The text of its button, if it is not the title. */
  action?: string;
  name?: ReactNode;
  deleted: string;
  /** The address that opens then, if this page goes with it. */
  opens?: string;
  /** Called once everything that shows it was read again. A form of it may start again from the new values. */
  onDeleted?: () => void;
  /** Consequences and obstacles. A function gets the refusal. */
  children: ReactNode | ((refusal: ApiProblem | null) => ReactNode);
}

export const DeleteDialog = <O extends DeleteId>({
  operation,
  params,
  etag,
  title,
  action: button,
  name,
  deleted,
  opens,
  onDeleted,
  children,
  onClose,
}: Deletion<O> & { onClose: () => void }) => {
  const navigate = useNavigate();
  const action = useAction(async () => {
    try {
      await call(operation, params, ...([etag ? { ifMatch: etag } : {}] as unknown as InputOf<O>));
    } catch (refusal) {
      // Obstacles may be new since the page was loaded.
      void refreshAfter(operation);
      throw refusal;
    }
    notify(deleted);
    onClose();
    if (opens) {
      // Unsaved texts about it go with it.
      discardUnsaved();
      await navigate({ href: opens });
    }
    await refreshAfter(operation);
    onDeleted?.();
  });
  return (
    <ActionDialog
      open
      onClose={onClose}
      title={title}
      {...(button !== undefined && { action: button })}
      kind="danger"
      act={action}
    >
      {name && (
        <p>
          <b>{name}</b>
        </p>
      )}
      {typeof children === 'function' ? children(action.error) : children}
    </ActionDialog>
  );
};

export const DeleteButton = <O extends DeleteId>({
  disabledReason,
  ...dialog
}: Deletion<O> & { disabledReason: string | null }) => {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button kind="quiet-danger" disabledReason={disabledReason} onClick={() => setOpen(true)}>
        {common.delete}
      </Button>
      {open && <DeleteDialog<O> {...(dialog as unknown as Deletion<O>)} onClose={() => setOpen(false)} />}
    </>
  );
};
