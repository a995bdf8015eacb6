import { lazy, Suspense, useState } from 'react';
import { useUnsaved } from '../api/index.ts';
import { readObject } from '../resource/json.ts';
import { common } from '../text/en/common.ts';
import { messages as words } from '../text/en/messages.ts';
import { ActionDialog, Bar, Button, OutcomeTag, Problem, Textarea } from '../ui/index.ts';
import { WaitingCall } from './Call.tsx';
import type { Deciding } from './decisions.ts';
import css from './Messages.module.css';
import type { Decision, PendingApproval } from './types.ts';
import { asksInput, toolOfReason } from './values.ts';

/** Few calls wait for a budget, and most pages with messages need no field of amounts. */
const BudgetDecision = lazy(async () => ({
  default: (await import('./BudgetDecision.tsx')).BudgetDecision,
}));

interface OneProps {
  approval: PendingApproval;
  deciding: Deciding;
}

const EditArguments = ({
  approval,
  deciding,
  open,
  onClose,
}: OneProps & { open: boolean; onClose: () => void }) => {
  const given = JSON.stringify(approval.arguments ?? {}, null, 2);
  const [text, setText] = useState(given);
  useUnsaved(() => open && text !== given && !deciding.busy);
  const [fault, setFault] = useState(false);
  const confirm = async () => {
    const args = readObject(text);
    setFault(args === null);
    if (args === null) return;
    const { approval_id } = approval;
    if (await deciding.decide({ approval_id, decision: 'approve', arguments: args })) onClose();
  };
  return (
    <ActionDialog
      open={open}
      onClose={onClose}
      title={words.editArguments}
      action={words.approve}
      onConfirm={() => void confirm()}
      busy={deciding.busy}
      error={deciding.error}
      wide
    >
      <p>{words.editMore(approval.tool_name ?? '')}</p>
      <Textarea
        label={words.arguments}
        value={text}
        onChange={setText}
        error={fault ? words.notObject : undefined}
        rows={Math.min(20, Math.max(6, text.split('\n').length + 1))}
        mono
        autoFocus
      />
    </ActionDialog>
  );
};

const Deny = ({ approval, deciding, open, onClose }: OneProps & { open: boolean; onClose: () => void }) => {
  const [reason, setReason] = useState('');
  useUnsaved(() => open && reason !== '' && !deciding.busy);
  const confirm = async () => {
    const { approval_id } = approval;
    const decision: Decision = { approval_id, decision: 'deny', ...(reason ? { reason } : {}) };
    if (await deciding.decide(decision)) onClose();
  };
  return (
    <ActionDialog
      open={open}
      onClose={onClose}
      title={words.deny}
      onConfirm={() => void confirm()}
      busy={deciding.busy}
      error={deciding.error}
    >
      <p>{words.denyMore(approval.tool_name ?? '')}</p>
      <Textarea
        label={common.reason}
        value={reason}
        onChange={setReason}
        hint={words.denyHint}
        rows={3}
        autoFocus
      />
    </ActionDialog>
  );
};

const decidedWord = ({ decision, arguments: args }: Decision): string =>
  decision === 'deny' ? words.decidedDeny : args ? words.decidedEdited : words.decidedApprove;

/**
 * The buttons of a waiting call. `onDeny` denies without the question for a reason, where the page has a field for it.
 * `primary`: "Approve" is the one button of the page that is ink.
 */
export const ApprovalButtons = ({
  approval,
  deciding,
  small = false,
  primary = true,
  approveFirst = false,
  onApprove,
  onDeny,
}: OneProps & {
  small?: boolean;
  primary?: boolean;
  approveFirst?: boolean;
  onApprove?: () => void;
  onDeny?: () => void;
}) => {
  const [open, setOpen] = useState<'edit' | 'deny' | null>(null);
  const { approval_id } = approval;
  const given = deciding.decided.get(approval_id);
  if (given) {
    return (
      <>
        <span className={css.decided}>{decidedWord(given)}</span>
        <Button small={small} onClick={() => deciding.undo(approval_id)}>
          {words.change}
        </Button>
      </>
    );
  }
  if (approval.kind === 'budget') {
    return (
      <Suspense fallback={null}>
        <BudgetDecision
          approval={approval}
          deciding={deciding}
          small={small}
          primary={primary}
          onDeny={onDeny}
        />
      </Suspense>
    );
  }
  const off = { small, busy: deciding.busy, disabledReason: deciding.disabledReason };
  const approve = (
    <Button
      {...off}
      kind={primary ? 'primary' : 'plain'}
      onClick={onApprove ?? (() => void deciding.decide({ approval_id, decision: 'approve' }))}
    >
      {words.approve}
    </Button>
  );
  const edit = (
    <Button {...off} onClick={() => setOpen('edit')}>
      {words.editArguments}
    </Button>
  );
  const deny = (
    <Button {...off} onClick={onDeny ?? (() => setOpen('deny'))}>
      {words.deny}
    </Button>
  );
  return (
    <>
      {approveFirst ? [approve, edit, deny] : [deny, edit, approve]}
      {open === 'edit' && (
        <EditArguments approval={approval} deciding={deciding} open onClose={() => setOpen(null)} />
      )}
      {open === 'deny' && <Deny approval={approval} deciding={deciding} open onClose={() => setOpen(null)} />}
    </>
  );
};

/** Its fields need pickers, which most pages with messages do without. */
const InputCall = lazy(async () => ({ default: (await import('./InputCall.tsx')).InputCall }));

/** A call that waits for a person, with its arguments and, if `deciding` is given and not `quiet`, its buttons. */
export const ApprovalCall = ({
  approval,
  deciding,
  quiet = false,
}: {
  approval: PendingApproval;
  deciding: Deciding | null;
  /** The buttons are elsewhere on the page. */
  quiet?: boolean;
}) =>
  asksInput(approval) ? (
    <Suspense fallback={null}>
      <InputCall approval={approval} deciding={deciding} />
    </Suspense>
  ) : (
    <WaitingCall
      toolName={approval.kind === 'budget' ? words.budget : approval.tool_name}
      tag={
        <OutcomeTag kind="waits">
          {approval.kind === 'unknown_outcome' ? words.outcomeUnknown : words.waitsForApproval}
        </OutcomeTag>
      }
      note={toolOfReason(approval.reason) === null ? approval.reason : null}
      more={approval.kind === 'unknown_outcome' && deciding ? words.unknownMore : null}
      args={approval.kind === 'budget' ? undefined : approval.arguments}
    >
      {deciding && !quiet && (
        <ApprovalButtons
          approval={approval}
          deciding={deciding}
          small
          primary={deciding.waiting.length === 1}
        />
      )}
    </WaitingCall>
  );

/** The line below several waiting calls: how many are decided, and the button that sends the decisions. */
export const SendDecisions = ({ deciding }: { deciding: Deciding }) => {
  const { waiting, decided, busy, error, disabledReason } = deciding;
  const missing = waiting.filter(({ approval_id }) => !decided.has(approval_id)).length;
  if (waiting.length < 2) return error && <Problem error={error} />;
  return (
    <div className={css.send}>
      {error && <Problem error={error} />}
      <Bar>
        <Button
          kind="primary"
          busy={busy}
          disabledReason={disabledReason ?? (missing > 0 ? words.decideAll(missing) : null)}
          onClick={() => void deciding.send()}
        >
          {words.send}
        </Button>
        <span className={css.decided}>{words.decidedCount(waiting.length - missing, waiting.length)}</span>
      </Bar>
    </div>
  );
};
