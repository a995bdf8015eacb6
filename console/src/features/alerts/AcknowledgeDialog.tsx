import { perform, useAction, useUnsaved } from '../../api/index.ts';
import type { Alert } from '../../api/types.gen.ts';
import { useOptionalText } from '../../resource/index.ts';
import { alerts as words } from '../../text/en/alerts.ts';
import { ActionDialog, notify, useDisabledReason } from '../../ui/index.ts';

/** Says that someone looks after an alert, with a note for those who were told. */
export const AcknowledgeDialog = ({
  alert,
  onClose,
}: {
  alert: Pick<Alert, 'id' | 'title'>;
  onClose: () => void;
}) => {
  const note = useOptionalText(words.note, words.noteHint);
  const act = useAction(async () => {
    await perform(
      'acknowledgeAlert',
      { alert_id: alert.id },
      { body: note.isGiven ? { note: note.text } : {} },
    );
    notify(words.acknowledgedNow);
    onClose();
  });
  useUnsaved(() => note.isGiven && !act.busy);
  return (
    <ActionDialog
      open
      onClose={onClose}
      title={words.acknowledge}
      act={act}
      disabledReason={useDisabledReason('acknowledgeAlert')}
    >
      <p>
        <b>{alert.title}</b>
      </p>
      <p>{words.acknowledgeText}</p>
      {note.field}
    </ActionDialog>
  );
};
