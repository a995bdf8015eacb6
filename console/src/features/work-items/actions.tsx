import { type ReactNode, useState } from 'react';
import {
  type Action,
  request,
  useAction,
  useInvalidate,
  usePermission,
  useUnsaved,
} from '../../api/index.ts';
import { decidable, type PendingApproval } from '../../messages/index.ts';
import { workItems as words } from '../../text/en/work-items.ts';
import {
  ActionDialog,
  Button,
  type ButtonProps,
  notify,
  Problem,
  permissionReason,
  Textarea,
} from '../../ui/index.ts';
import { actionPath, eventsPath, workItemsPath } from './paths.ts';
import type { ActionName, Status, WorkItemDetail } from './types.ts';

/** What an action needs to know of a Work Item. */
export interface Acted {
  id: string;
  status: Status;
  pending_approvals?: readonly PendingApproval[];
}

/** What continuing takes. */
export interface ContinueBody {
  message?: string;
  decisions?: readonly object[];
}

/** Performs actions on a Work Item, and gets again what shows it. */
export const useActOn = (): ((item: Acted, action: ActionName, body?: ContinueBody) => Promise<void>) => {
  const invalidate = useInvalidate();
  return async (item, action, body) => {
    try {
      await request('POST', actionPath(item.id, action), body ? { body } : {});
    } finally {
      // Also after a refusal: its status has changed in the meantime.
      void invalidate(workItemsPath, eventsPath(item.id), '/app/api/me');
    }
    const asked = action === 'cancel' && item.status === 'EXECUTING';
    notify(asked ? words.cancelRequested : words.done[action]);
  };
};

/** Why this person may not do it; null if they may. */
export const useActionReason = (action: ActionName): string | null =>
  permissionReason(usePermission(`${action}WorkItem`));

/** Why this person may not decide on the calls that wait; null if they may. */
export const useDecisionReason = ({ approval_role }: Pick<WorkItemDetail, 'approval_role'>): string | null =>
  permissionReason(usePermission('continueWorkItem', approval_role ?? 'member'));

const explanation = (action: ActionName, { status }: Acted): string => {
  if (action === 'cancel') return status === 'EXECUTING' ? words.cancelRunningMore : words.cancelMore;
  if (action === 'restart') return words.restartMore;
  if (action === 'submit') return words.submitMore;
  return action === 'complete' ? words.completeMore : words.continueMore;
};

interface DialogProps {
  item: Acted;
  action: ActionName;
  act: Action<[string], true>;
  onClose: () => void;
}

const AskDialog = ({ item, action, act, onClose }: DialogProps) => {
  const [message, setMessage] = useState('');
  useUnsaved(() => message.trim() !== '' && !act.busy);
  const waiting = decidable(item.pending_approvals ?? []).filter(({ kind }) => kind === 'tool_call').length;
  return (
    <ActionDialog
      open
      onClose={onClose}
      title={words[action]}
      kind={action === 'cancel' ? 'danger' : 'primary'}
      onConfirm={() => void act.run(message.trim()).then((done) => done && onClose())}
      busy={act.busy}
      error={act.error}
    >
      <p>{explanation(action, item)}</p>
      {action === 'continue' && (
        <Textarea
          label={words.message}
          value={message}
          onChange={setMessage}
          hint={waiting > 0 ? words.messageDenies(waiting) : words.messageHint}
          autoFocus
        />
      )}
    </ActionDialog>
  );
};

/** Asks before an action that was chosen in a menu. */
export const ActionQuestion = ({
  item,
  action,
  onClose,
}: {
  item: Acted;
  action: ActionName;
  onClose: () => void;
}) => {
  const perform = useActOn();
  const act = useAction(async (message: string) => {
    await perform(item, action, action === 'continue' && message !== '' ? { message } : undefined);
    return true as const;
  });
  return <AskDialog item={item} action={action} act={act} onClose={onClose} />;
};

/**
 * The button of an action. All but submitting ask in a dialog first, because none of them can be taken back.
 */
export const ActionButton = ({
  item,
  action,
  kind = 'plain',
  onDone,
}: {
  item: Acted;
  action: ActionName;
  kind?: ButtonProps['kind'];
  onDone?: () => void;
}) => {
  const [open, setOpen] = useState(false);
  const disabledReason = useActionReason(action);
  const perform = useActOn();
  const act = useAction(async (message: string) => {
    await perform(item, action, action === 'continue' && message !== '' ? { message } : undefined);
    onDone?.();
    return true as const;
  });
  const direct = action === 'submit';
  return (
    <>
      <Button
        kind={kind}
        busy={direct && act.busy}
        disabledReason={disabledReason}
        onClick={() => {
          act.clear();
          if (direct) void act.run('');
          else setOpen(true);
        }}
      >
        {words[action]}
      </Button>
      {direct && act.error && <Problem error={act.error} />}
      {open && <AskDialog item={item} action={action} act={act} onClose={() => setOpen(false)} />}
    </>
  );
};

/** In which order the buttons stand: the one that helps most is the last. */
const order: readonly ActionName[] = ['cancel', 'complete', 'restart', 'continue', 'submit'];

/**
 * The buttons of what its status allows. The last one is the primary one if it goes on with the work and `primary` allows
 * it: where a call waits for approval, "Approve" is.
 */
export const ActionButtons = ({
  item,
  allowed,
  primary,
}: {
  item: Acted;
  allowed: readonly ActionName[];
  primary: boolean;
}): ReactNode =>
  order
    .filter((action) => allowed.includes(action))
    .map((action) => (
      <ActionButton
        key={action}
        item={item}
        action={action}
        kind={
          action === 'cancel'
            ? 'danger'
            : primary && (action === 'continue' || action === 'submit')
              ? 'primary'
              : 'plain'
        }
      />
    ));
