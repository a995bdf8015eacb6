import { useRef, useState } from 'react';
import { request, useAction, useIdempotencyKey, usePermission, useUnsaved } from '../../../api/index.ts';
import type { PublicWorkItem, ScheduleDetail } from '../../../api/types.gen.ts';
import { to } from '../../../app/addresses.ts';
import { schedule as words } from '../../../text/en/schedule.ts';
import { timeOfField } from '../../../time/index.ts';
import { ActionDialog, Button, notify, permissionReason, TextField } from '../../../ui/index.ts';
import { pathsOf, useScheduleChanged } from './paths.ts';

/** Asks for a time, and makes a Work Item that waits for it. */
export const RunAt = ({ schedule }: { schedule: ScheduleDetail }) => {
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState('');
  const changed = useScheduleChanged();
  const keyOf = useIdempotencyKey();
  const runs = useRef(0);
  const { agent_id, id } = schedule;
  const action = useAction(async () => {
    const start_at = timeOfField(at);
    const { body } = await request<PublicWorkItem>('POST', `${pathsOf(agent_id, id).app}/run`, {
      body: { start_at },
      idempotencyKey: keyOf([runs.current, start_at]),
    });
    runs.current += 1;
    setOpen(false);
    setAt('');
    notify(words.planned, { label: words.openWorkItem, href: to.workItem(body.id) });
    await changed(agent_id);
  });
  useUnsaved(() => open && at !== '' && !action.busy);
  return (
    <>
      <Button
        kind="quiet"
        disabledReason={permissionReason(usePermission('runSchedule'))}
        onClick={() => setOpen(true)}
      >
        {words.runAt}
      </Button>
      <ActionDialog
        open={open}
        onClose={() => setOpen(false)}
        title={words.runAtTitle}
        onConfirm={() => void action.run()}
        busy={action.busy}
        error={action.error}
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
