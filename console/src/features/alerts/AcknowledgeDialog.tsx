import { useState } from 'react';
import { perform, useAction, useUnsaved } from '../../api/index.ts';
import type { Alert } from '../../api/types.gen.ts';
import { alerts as words } from '../../text/en/alerts.ts';
import { ActionDialog, notify, Textarea, useDisabledReason } from '../../ui/index.ts';

/** Says that someone looks after an alert, with a note for those who were told. */
export const AcknowledgeDialog = ({
  alert,
  onClose,
}: {
  alert: Pick<Alert, 'id' | 'title'>;
  onClose: () => void;
}) => {
  const [text, setText] = useState('');
  const note = text.trim();
  const act = useAction(async () => {
    await perform('acknowledgeAlert', { alert_id: alert.id }, { body: note === '' ? {} : { note } });
    notify(words.acknowledgedNow);
    onClose();
  });
  useUnsaved(() => note !== '' && !act.busy);
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
      <Textarea label={words.note} value={text} onChange={setText} hint={words.noteHint} rows={2} autoFocus />
    </ActionDialog>
  );
};
