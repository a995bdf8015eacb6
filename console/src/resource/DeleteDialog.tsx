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
  /** The operation that deletes it. */
  operation: O;
  params: Params<O>;
  /** The version that the person saw. */
  etag?: string | null;
  /** The name of the action: "Delete agent". */
  title: string;
  /** The text of its button, if it is not the title. */
  action?: string;
  /** Which one. */
  name?: ReactNode;
  /** What is said when it is gone. */
  deleted: string;
  /** The address that opens then, if this page goes with it. */
  opens?: string;
  /** Called once everything that shows it was read again. A form of it may start again from the new values. */
  onDeleted?: () => void;
  /** What goes with it, and what keeps it. A function gets the refusal. */
  children: ReactNode | ((refusal: ApiProblem | null) => ReactNode);
}

/** Asks before a thing is deleted. */
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
      // What keeps it may be new since the page was loaded.
      void refreshAfter(operation);
      throw refusal;
    }
    notify(deleted);
    onClose();
    if (opens) {
      // What was typed about it goes with it.
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
      onConfirm={() => void action.run()}
      busy={action.busy}
      error={action.error}
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

/** The button of a page that deletes what the page shows, after a question. */
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
