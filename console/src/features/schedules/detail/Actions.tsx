import { useState } from 'react';
import { type Action, perform, useAction, useUnsaved } from '../../../api/index.ts';
import type { ScheduleDetail } from '../../../api/types.gen.ts';
import { DeleteButton, useOptionalReason } from '../../../resource/index.ts';
import { to } from '../../../routing/to.ts';
import { common } from '../../../text/en/common.ts';
import { schedule as words } from '../../../text/en/schedule.ts';
import { ActionDialog, Button, ButtonLink, notify, useDisabledReason } from '../../../ui/index.ts';
import { nameOf } from '../shared/name.ts';
import { paramsOf } from '../shared/use-actions.ts';
import css from './detail.module.css';
import { RunAt } from './RunAt.tsx';

const Pause = ({ schedule }: { schedule: ScheduleDetail }) => {
  const [open, setOpen] = useState(false);
  const reason = useOptionalReason(words.reasonHint);
  const action = useAction(async () => {
    await perform('pauseSchedule', paramsOf(schedule), { body: reason.given, ifMatch: null });
    setOpen(false);
    reason.clear();
    notify(words.pausedDone(nameOf(schedule)));
  });
  useUnsaved(() => open && reason.isGiven && !action.busy);
  return (
    <>
      <Button disabledReason={useDisabledReason('pauseSchedule')} onClick={() => setOpen(true)}>
        {words.pause}
      </Button>
      <ActionDialog open={open} onClose={() => setOpen(false)} title={words.pauseTitle} act={action}>
        <p>{words.pauseMore}</p>
        {reason.field}
      </ActionDialog>
    </>
  );
};

export const Actions = ({
  schedule,
  etag,
  run,
  resume,
}: {
  schedule: ScheduleDetail;
  etag: string | null;
  run: Action<[ScheduleDetail], void>;
  resume: Action<[ScheduleDetail], void>;
}) => {
  const { agent_id, id, enabled } = schedule;
  const mayResume = useDisabledReason('resumeSchedule');
  return (
    <>
      <span className={css.quiet}>
        <DeleteButton
          operation="deleteSchedule"
          params={paramsOf(schedule)}
          etag={etag}
          title={words.deleteTitle}
          action={common.delete}
          deleted={words.deletedDone(nameOf(schedule))}
          opens={to('/schedules')}
          disabledReason={useDisabledReason('deleteSchedule')}
        >
          <p>{words.deleteMore(nameOf(schedule))}</p>
        </DeleteButton>
        <ButtonLink
          kind="quiet"
          href={to('/schedules/new', {}, { copy: id })}
          disabledReason={useDisabledReason('createSchedule')}
        >
          {words.duplicate}
        </ButtonLink>
        <RunAt schedule={schedule} />
      </span>
      {enabled ? (
        <Pause schedule={schedule} />
      ) : (
        <Button busy={resume.busy} disabledReason={mayResume} onClick={() => void resume.run(schedule)}>
          {words.resume}
        </Button>
      )}
      <ButtonLink
        href={to('/agents/$agentId/schedules/$scheduleId/edit', { agentId: agent_id, scheduleId: id })}
        disabledReason={useDisabledReason('replaceSchedule')}
      >
        {common.edit}
      </ButtonLink>
      <Button
        kind="primary"
        busy={run.busy}
        disabledReason={useDisabledReason('runSchedule')}
        onClick={() => void run.run(schedule)}
      >
        {words.runNow}
      </Button>
    </>
  );
};
