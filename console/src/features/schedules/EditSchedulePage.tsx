import { useNavigate, useParams } from '@tanstack/react-router';
import { type LoadState, useEditForm, useOperation } from '../../api/index.ts';
import type { PublicSchedule } from '../../api/types.gen.ts';
import { DiscardButton, EditConflict } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { common } from '../../text/en/common.ts';
import { pages } from '../../text/en/pages.ts';
import { scheduleForm as words } from '../../text/en/schedule-form.ts';
import { Button, Loaded, notify, Page, Skeleton, useDisabledReason } from '../../ui/index.ts';
import { timesOf } from './form/repeat.ts';
import css from './form/ScheduleForm.module.css';
import { ScheduleForm } from './form/ScheduleForm.tsx';
import { differences, toDefinition, toValues, withField } from './form/values.ts';
import { scheduleHref } from './shared/address.ts';
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
      href: scheduleHref(agent_id, id),
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
              disabledReason={useDisabledReason('replaceSchedule')}
            >
              {common.save}
            </Button>
            <span className={css.spread}>
              <DiscardButton href={scheduleHref(agent_id, id)} />
            </span>
          </>
        }
      />
      <EditConflict edit={edit} differences={differences} onSaved={() => void leave()} />
    </>
  );
};

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
                href: scheduleHref(agentId, scheduleId),
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
