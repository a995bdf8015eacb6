import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { discardUnsaved, request, useAction, useInvalidate } from '../api/index.ts';
import type { ApiProblem } from '../api/request.ts';
import { common } from '../text/en/common.ts';
import { ActionDialog, Button, notify } from '../ui/index.ts';

interface DeleteProps {
  /** The path of the API. */
  path: string;
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
  /** Paths of lists and other things that show it. */
  invalidates: readonly string[];
  /** What goes with it, and what keeps it. A function gets the refusal. */
  children: ReactNode | ((refusal: ApiProblem | null) => ReactNode);
}

/** Asks before a thing is deleted. */
export const DeleteDialog = ({
  path,
  etag,
  title,
  action: button,
  name,
  deleted,
  opens,
  onDeleted,
  invalidates,
  children,
  onClose,
}: DeleteProps & { onClose: () => void }) => {
  const navigate = useNavigate();
  const invalidate = useInvalidate();
  const action = useAction(async () => {
    try {
      await request('DELETE', path, { ifMatch: etag });
    } catch (refusal) {
      // What keeps it may be new since the page was loaded.
      void invalidate(...invalidates);
      throw refusal;
    }
    notify(deleted);
    onClose();
    if (opens) {
      // What was typed about it goes with it.
      discardUnsaved();
      await navigate({ href: opens });
    }
    await invalidate(...invalidates);
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
export const DeleteButton = ({
  disabledReason,
  ...dialog
}: DeleteProps & { disabledReason: string | null }) => {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button kind="quiet-danger" disabledReason={disabledReason} onClick={() => setOpen(true)}>
        {common.delete}
      </Button>
      {open && <DeleteDialog {...dialog} onClose={() => setOpen(false)} />}
    </>
  );
};
