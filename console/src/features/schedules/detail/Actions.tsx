import { useRef, useState } from 'react';
import { request, useAction, useIdempotencyKey, usePermission, useUnsaved } from '../../../api/index.ts';
import type { PublicWorkItem, ScheduleDetail } from '../../../api/types.gen.ts';
import { to } from '../../../app/addresses.ts';
import { DeleteButton } from '../../../resource/index.ts';
import { common } from '../../../text/en/common.ts';
import { schedule as words } from '../../../text/en/schedule.ts';
import { ActionDialog, Button, ButtonLink, notify, permissionReason, Textarea } from '../../../ui/index.ts';
import { nameOf } from '../shared/name.ts';
import css from './detail.module.css';
import { pathsOf, pathsShowing, useScheduleChanged } from './paths.ts';
import { RunAt } from './RunAt.tsx';

/** Makes a Work Item now. A repeated click after a failure makes no second one. */
export const useRunNow = (schedule: ScheduleDetail) => {
  const changed = useScheduleChanged();
  const keyOf = useIdempotencyKey();
  const runs = useRef(0);
  const { agent_id, id } = schedule;
  return useAction(async () => {
    const { body } = await request<PublicWorkItem>('POST', `${pathsOf(agent_id, id).app}/run`, {
      idempotencyKey: keyOf(runs.current),
    });
    runs.current += 1;
    notify(words.started, { label: words.openWorkItem, href: to.workItem(body.id) });
    await changed(agent_id);
  });
};

/** Goes on with the next occurrence. */
export const useResume = (schedule: ScheduleDetail) => {
  const changed = useScheduleChanged();
  const { agent_id, id } = schedule;
  return useAction(async () => {
    await request('POST', `${pathsOf(agent_id, id).app}/resume`);
    notify(words.resumedDone(nameOf(schedule)));
    await changed(agent_id);
  });
};

/** Asks for a reason, and pauses. */
const Pause = ({ schedule }: { schedule: ScheduleDetail }) => {
  const [open, setOpen] = useState(false);
  const [reason, setReason] = useState('');
  const changed = useScheduleChanged();
  const { agent_id, id } = schedule;
  const action = useAction(async () => {
    await request('POST', `${pathsOf(agent_id, id).app}/pause`, {
      body: reason.trim() === '' ? {} : { reason: reason.trim() },
    });
    setOpen(false);
    setReason('');
    notify(words.pausedDone(nameOf(schedule)));
    await changed(agent_id);
  });
  useUnsaved(() => open && reason.trim() !== '' && !action.busy);
  return (
    <>
      <Button disabledReason={permissionReason(usePermission('pauseSchedule'))} onClick={() => setOpen(true)}>
        {words.pause}
      </Button>
      <ActionDialog
        open={open}
        onClose={() => setOpen(false)}
        title={words.pauseTitle}
        onConfirm={() => void action.run()}
        busy={action.busy}
        error={action.error}
      >
        <p>{words.pauseMore}</p>
        <Textarea
          label={common.reason}
          value={reason}
          onChange={setReason}
          hint={words.reasonHint}
          rows={2}
          autoFocus
        />
      </ActionDialog>
    </>
  );
};

/** What can be done with the schedule. */
export const Actions = ({
  schedule,
  etag,
  run,
  resume,
}: {
  schedule: ScheduleDetail;
  etag: string | null;
  run: ReturnType<typeof useRunNow>;
  resume: ReturnType<typeof useResume>;
}) => {
  const { agent_id, id, enabled } = schedule;
  const mayResume = permissionReason(usePermission('resumeSchedule'));
  return (
    <>
      <span className={css.quiet}>
        <DeleteButton
          path={pathsOf(agent_id, id).public}
          etag={etag}
          title={words.deleteTitle}
          action={common.delete}
          deleted={words.deletedDone(nameOf(schedule))}
          opens={to.schedules()}
          invalidates={pathsShowing(agent_id)}
          disabledReason={permissionReason(usePermission('deleteSchedule'))}
        >
          <p>{words.deleteMore(nameOf(schedule))}</p>
        </DeleteButton>
        <ButtonLink
          kind="quiet"
          href={to.newSchedule({ copy: id })}
          disabledReason={permissionReason(usePermission('createSchedule'))}
        >
          {words.duplicate}
        </ButtonLink>
        <RunAt schedule={schedule} />
      </span>
      {enabled ? (
        <Pause schedule={schedule} />
      ) : (
        <Button busy={resume.busy} disabledReason={mayResume} onClick={() => void resume.run()}>
          {words.resume}
        </Button>
      )}
      <ButtonLink
        href={to.editSchedule(agent_id, id)}
        disabledReason={permissionReason(usePermission('replaceSchedule'))}
      >
        {common.edit}
      </ButtonLink>
      <Button
        kind="primary"
        busy={run.busy}
        disabledReason={permissionReason(usePermission('runSchedule'))}
        onClick={() => void run.run()}
      >
        {words.runNow}
      </Button>
    </>
  );
};
