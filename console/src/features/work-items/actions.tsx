import { type ReactNode, useState } from 'react';
import { type Action, type Body, perform, useAction, useUnsaved } from '../../api/index.ts';
import { decidable, type PendingApproval } from '../../messages/index.ts';
import { workItems as words } from '../../text/en/work-items.ts';
import {
  ActionDialog,
  Button,
  type ButtonProps,
  notify,
  Problem,
  Textarea,
  useDisabledReason,
} from '../../ui/index.ts';
import type { ActionName, Status, WorkItemDetail } from './types.ts';

export interface Acted {
  id: string;
  status: Status;
  pending_approvals?: readonly PendingApproval[];
}

const operations = {
  submit: 'submitWorkItem',
  continue: 'continueWorkItem',
  restart: 'restartWorkItem',
  cancel: 'cancelWorkItem',
  complete: 'completeWorkItem',
} as const satisfies Record<ActionName, string>;

/** Performs an action. Only continuing takes a body. */
export const actOn = async (
  item: Acted,
  action: ActionName,
  body: Body<'continueWorkItem'> = {},
): Promise<void> => {
  const params = { work_item_id: item.id };
  if (action === 'continue') await perform(operations.continue, params, { body });
  else await perform(operations[action], params);
  const asked = action === 'cancel' && item.status === 'EXECUTING';
  notify(asked ? words.cancelRequested : words.done[action]);
};

export const useActionReason = (action: ActionName): string | null => useDisabledReason(operations[action]);

export const useDecisionReason = ({ approval_role }: Pick<WorkItemDetail, 'approval_role'>): string | null =>
  useDisabledReason('continueWorkItem', approval_role ?? 'member');

/** Says what an action does, before it is done. */
export const explanationOf = (action: ActionName, status?: Status): string => {
  if (action === 'cancel') return status === 'EXECUTING' ? words.cancelRunningMore : words.cancelMore;
  if (action === 'restart') return words.restartMore;
  if (action === 'submit') return words.submitMore;
  return action === 'complete' ? words.completeMore : words.continueMore;
};

const useAct = (item: Acted, action: ActionName, onDone?: () => void) =>
  useAction(async (message: string) => {
    await actOn(item, action, message === '' ? {} : { message });
    onDone?.();
    return true as const;
  });

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
      <p>{explanationOf(action, item.status)}</p>
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

export const ActionQuestion = ({
  item,
  action,
  onClose,
}: {
  item: Acted;
  action: ActionName;
  onClose: () => void;
}) => {
  const act = useAct(item, action);
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
  const act = useAct(item, action, onDone);
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

/** The order of the buttons: the most helpful is the last. */
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
