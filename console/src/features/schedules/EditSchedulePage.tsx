import { useNavigate, useParams } from '@tanstack/react-router';
import { type LoadState, useEditForm, useOperation, usePermission } from '../../api/index.ts';
import type { PublicSchedule } from '../../api/types.gen.ts';
import { DiscardButton, EditConflict } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { common } from '../../text/en/common.ts';
import { pages } from '../../text/en/pages.ts';
import { scheduleForm as words } from '../../text/en/schedule-form.ts';
import { Button, Loaded, notify, Page, permissionReason, Skeleton } from '../../ui/index.ts';
import { timesOf } from './form/repeat.ts';
import css from './form/ScheduleForm.module.css';
import { ScheduleForm } from './form/ScheduleForm.tsx';
import { differences, toDefinition, toValues, withField } from './form/values.ts';
import { nameOf } from './shared/name.ts';

const ScheduleEditor = ({ schedule, got }: { schedule: PublicSchedule; got: LoadState<PublicSchedule> }) => {
  const { id, agent_id } = schedule;
  const navigate = useNavigate();
  const edit = useEditForm({
    read: 'getSchedule',
    change: 'replaceSchedule',
    params: { agent_id, schedule_id: id },
    loaded: { body: schedule, etag: got.etag },
    toValues,
    toBody: (values) => {
      const { agent_id: _, ...body } = toDefinition(values);
      return body;
    },
    readRefusal: withField,
  });
  const { form, saved } = edit;
  const leave = async () => {
    notify(words.saved(form.values.work_item_name.trim() || pages.schedule));
    await navigate({
      href: to('/agents/$agentId/schedules/$scheduleId', { agentId: agent_id, scheduleId: id }),
    });
  };
  return (
    <>
      <ScheduleForm
        form={form}
        changedOutside={timesOf(saved.cron_expression, saved.metadata.picker).changedOutside}
        onSubmit={() => void form.submit().then((saved) => (saved ? leave() : undefined))}
        actions={
          <>
            <Button
              type="submit"
              kind="primary"
              busy={form.busy}
              disabledReason={permissionReason(usePermission('replaceSchedule'))}
            >
              {common.save}
            </Button>
            <span className={css.spread}>
              <DiscardButton
                href={to('/agents/$agentId/schedules/$scheduleId', { agentId: agent_id, scheduleId: id })}
              />
            </span>
          </>
        }
      />
      <EditConflict edit={edit} differences={differences} onSaved={() => void leave()} />
    </>
  );
};

/** Changes a schedule. */
export const EditSchedulePage = () => {
  const { agentId, scheduleId } = useParams({ from: '/shell/agents/$agentId/schedules/$scheduleId/edit' });
  const got = useOperation('getSchedule', { agent_id: agentId, schedule_id: scheduleId });
  return (
    <Page
      title={pages.editSchedule}
      titlePrefix={got.data && nameOf(got.data)}
      crumbs={[
        { label: pages.schedules, href: to('/schedules') },
        ...(got.data
          ? [
              {
                label: nameOf(got.data),
                href: to('/agents/$agentId/schedules/$scheduleId', { agentId, scheduleId }),
              },
            ]
          : []),
      ]}
    >
      <Loaded
        got={got}
        operation="getSchedule"
        skeleton={<Skeleton rows={7} height={64} />}
        list={{ label: pages.schedules, href: to('/schedules') }}
      >
        {(schedule) => <ScheduleEditor schedule={schedule} got={got} />}
      </Loaded>
    </Page>
  );
};
