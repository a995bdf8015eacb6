import { useState } from 'react';
import { perform, useAction, useUnsaved } from '../../../api/index.ts';
import type { ScheduleDetail } from '../../../api/types.gen.ts';
import { to } from '../../../routing/to.ts';
import { schedule as words } from '../../../text/en/schedule.ts';
import { timeOfField } from '../../../time/index.ts';
import { ActionDialog, Button, notify, TextField, useDisabledReason } from '../../../ui/index.ts';
import { paramsOf } from '../shared/use-actions.ts';

export const RunAt = ({ schedule }: { schedule: ScheduleDetail }) => {
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState('');
  const action = useAction(async () => {
    const { body } = await perform('runSchedule', paramsOf(schedule), {
      body: { start_at: timeOfField(at) },
    });
    setOpen(false);
    setAt('');
    notify(words.planned, {
      label: words.openWorkItem,
      href: to('/work-items/$workItemId', { workItemId: body.id }),
    });
  });
  useUnsaved(() => open && at !== '' && !action.busy);
  return (
    <>
      <Button kind="quiet" disabledReason={useDisabledReason('runSchedule')} onClick={() => setOpen(true)}>
        {words.runAt}
      </Button>
      <ActionDialog
        open={open}
        onClose={() => setOpen(false)}
        title={words.runAtTitle}
        act={action}
        disabledReason={at === '' ? words.runAtNeeded : null}
      >
        <p>{words.runAtMore}</p>
        <TextField
          type="datetime-local"
          label={words.runAtWhen}
          hint={words.runAtHint}
          value={at}
          onChange={setAt}
          autoFocus
        />
      </ActionDialog>
    </>
  );
};
