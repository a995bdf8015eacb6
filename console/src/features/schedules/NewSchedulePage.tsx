import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiProblem, perform, useForm, useIdempotencyKey, useOperation } from '../../api/index.ts';
import type { PublicSchedule } from '../../api/types.gen.ts';
import { AgentSelect, DiscardButton, NoAgents, useAgents } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { useUrlState } from '../../routing/url-state.ts';
import { pages } from '../../text/en/pages.ts';
import { scheduleForm as words } from '../../text/en/schedule-form.ts';
import { Button, Link, Loaded, notify, Page, Problem, Skeleton, useDisabledReason } from '../../ui/index.ts';
import css from './form/ScheduleForm.module.css';
import { ScheduleForm } from './form/ScheduleForm.tsx';
import { newValues, toCopy, toDefinition, type Values, withField } from './form/values.ts';
import type { newScheduleSearch } from './search.ts';
import { scheduleHref } from './shared/address.ts';
import { nameOf } from './shared/name.ts';

/** A schedule that was created although its first run failed. */
interface NotRun {
  schedule: PublicSchedule;
  error: ApiProblem;
}

/** Creates schedules, and runs them at once. Sending the same again makes no second one. */
const useCreate = () => {
  const [notRun, setNotRun] = useState<NotRun | null>(null);
  const [createKey, runKey] = [useIdempotencyKey(), useIdempotencyKey()];
  const navigate = useNavigate();
  const create = async (values: Values): Promise<PublicSchedule> => {
    setNotRun(null);
    const { agent_id, ...body } = toDefinition(values);
    const idempotencyKey = createKey({ agent_id, ...body });
    return (await perform('createSchedule', { agent_id }, { body, idempotencyKey })).body;
  };
  const open = async (values: Values) => {
    const schedule = await create(values);
    notify(words.created(nameOf(schedule)));
    await navigate({
      href: scheduleHref(schedule.agent_id, schedule.id),
    });
  };
  const run = async (values: Values) => {
    const schedule = await create(values);
    const params = { agent_id: schedule.agent_id, schedule_id: schedule.id };
    try {
      const { body } = await perform('runSchedule', params, { idempotencyKey: runKey(schedule.id) });
      notify(words.created(nameOf(schedule)), {
        label: words.openSchedule,
        href: scheduleHref(schedule.agent_id, schedule.id),
      });
      await navigate({ href: to('/work-items/$workItemId', { workItemId: body.id }) });
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      setNotRun({ schedule, error });
    }
  };
  return { open, run, notRun };
};

const NewScheduleForm = ({ first, back }: { first: Values; back: string }) => {
  const { open, run, notRun } = useCreate();
  const form = useForm(first, open, { readRefusal: withField });
  const reason = useDisabledReason('createSchedule');
  const mayRun = useDisabledReason('runSchedule');
  return (
    <ScheduleForm
      form={form}
      agent={
        <AgentSelect
          {...form.field('agent_id')}
          mode="worker"
          label={words.agent}
          none={words.noAgentMatches}
        />
      }
      onSubmit={() => void form.submit()}
      actions={
        <>
          <Button type="submit" kind="primary" busy={form.busy} disabledReason={reason}>
            {words.create}
          </Button>
          <Button busy={form.busy} disabledReason={reason ?? mayRun} onClick={() => void form.submit(run)}>
            {words.createAndRun}
          </Button>
          <span className={css.spread}>
            <DiscardButton href={back} />
          </span>
        </>
      }
    >
      {notRun && (
        <div className={css.notRun}>
          <p>
            {words.createdNotRun}{' '}
            <Link href={scheduleHref(notRun.schedule.agent_id, notRun.schedule.id)}>
              {words.openSchedule}
            </Link>
          </p>
          <Problem error={notRun.error} />
        </div>
      )}
    </ScheduleForm>
  );
};

const skeleton = <Skeleton rows={7} height={64} />;

const CopyForm = ({ id }: { id: string }) => {
  const got = useOperation('findSchedule', { schedule_id: id });
  return (
    <Loaded
      got={got}
      operation="getSchedule"
      skeleton={skeleton}
      list={{ label: pages.schedules, href: to('/schedules') }}
    >
      {(schedule) => (
        <NewScheduleForm first={toCopy(schedule)} back={scheduleHref(schedule.agent_id, schedule.id)} />
      )}
    </Loaded>
  );
};

/** The form of a new schedule: empty, for an agent (`?agent=`), or like another one (`?copy=`). */
export const NewSchedulePage = () => {
  const { agent, copy } = useUrlState<ReturnType<typeof newScheduleSearch>>().search;
  const got = useAgents({ mode: 'worker' });
  const back =
    agent === undefined ? to('/schedules') : to('/agents/$agentId', { agentId: agent }, { tab: 'schedules' });
  return (
    <Page title={pages.newSchedule} crumbs={[{ label: pages.schedules, href: to('/schedules') }]}>
      <Loaded got={got} operation="listAgents" skeleton={skeleton}>
        {({ data: workers }) =>
          workers.length === 0 ? (
            <NoAgents sentence={words.noAgents} example={words.exampleAgent} />
          ) : copy !== undefined ? (
            <CopyForm id={copy} />
          ) : (
            <NewScheduleForm first={newValues(agent ?? onlyOne(workers))} back={back} />
          )
        }
      </Loaded>
    </Page>
  );
};

const onlyOne = (workers: readonly { id: string }[]): string | undefined =>
  workers.length === 1 ? workers[0]!.id : undefined;
