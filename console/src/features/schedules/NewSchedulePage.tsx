import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import {
  ApiProblem,
  path,
  request,
  useBaseUrl,
  useForm,
  useGet,
  useIdempotencyKey,
  useInvalidate,
  usePermission,
} from '../../api/index.ts';
import type { PublicSchedule, PublicWorkItem, ScheduleDetail } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { useUrlState } from '../../app/url-state.ts';
import { AgentSelect, DiscardButton, useAgents } from '../../resource/index.ts';
import { pages } from '../../text/en/pages.ts';
import { scheduleForm as words } from '../../text/en/schedule-form.ts';
import {
  Box,
  Button,
  ButtonLink,
  curlOf,
  EmptyState,
  Link,
  Loaded,
  notify,
  Page,
  Problem,
  permissionReason,
  Skeleton,
} from '../../ui/index.ts';
import css from './form/ScheduleForm.module.css';
import { ScheduleForm } from './form/ScheduleForm.tsx';
import { newValues, toCopy, toDefinition, type Values, withField } from './form/values.ts';
import type { newScheduleSearch } from './search.ts';
import { nameOf } from './shared/name.ts';

/** A schedule that is there, although what should follow failed. */
interface NotRun {
  schedule: PublicSchedule;
  error: ApiProblem;
}

/** Creates schedules, and runs them at once. Sending the same again makes no second one. */
const useCreate = () => {
  const [notRun, setNotRun] = useState<NotRun | null>(null);
  const keyOf = useIdempotencyKey();
  const navigate = useNavigate();
  const invalidate = useInvalidate();
  const create = async (values: Values): Promise<PublicSchedule> => {
    setNotRun(null);
    const { agent_id, ...body } = toDefinition(values);
    const { body: schedule } = await request<PublicSchedule>(
      'POST',
      path`/api/v2/agents/${agent_id}/schedules`,
      {
        body,
        idempotencyKey: keyOf({ agent_id, ...body }),
      },
    ).catch((error) => {
      throw withField(error);
    });
    void invalidate('/app/api/schedules', '/app/api/overview', '/app/api/agents', '/api/v2/agents');
    return schedule;
  };
  const open = async (values: Values) => {
    const schedule = await create(values);
    notify(words.created(nameOf(schedule)));
    await navigate({ to: to.schedule(schedule.agent_id, schedule.id) });
  };
  const run = async (values: Values) => {
    const schedule = await create(values);
    const runPath = path`/app/api/agents/${schedule.agent_id}/schedules/${schedule.id}/run`;
    try {
      const { body } = await request<PublicWorkItem>('POST', runPath, { idempotencyKey: keyOf(schedule.id) });
      notify(words.created(nameOf(schedule)), {
        label: words.openSchedule,
        href: to.schedule(schedule.agent_id, schedule.id),
      });
      await navigate({ to: to.workItem(body.id) });
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      setNotRun({ schedule, error });
    }
  };
  return { open, run, notRun };
};

const NewScheduleForm = ({ first, back }: { first: Values; back: string }) => {
  const { open, run, notRun } = useCreate();
  const form = useForm(first, open);
  const reason = permissionReason(usePermission('createSchedule'));
  const mayRun = permissionReason(usePermission('runSchedule'));
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
            <Link href={to.schedule(notRun.schedule.agent_id, notRun.schedule.id)}>{words.openSchedule}</Link>
          </p>
          <Problem error={notRun.error} />
        </div>
      )}
    </ScheduleForm>
  );
};

/** There is no agent that could run. */
const NoAgents = () => {
  const baseUrl = useBaseUrl();
  return (
    <Box>
      <EmptyState
        sentence={words.noAgents}
        action={
          <ButtonLink
            kind="primary"
            href={to.newAgent()}
            disabledReason={permissionReason(usePermission('createAgent'))}
          >
            {pages.newAgent}
          </ButtonLink>
        }
        curl={curlOf(baseUrl, 'POST', '/agents', { name: words.exampleAgent, mode: 'worker' })}
      />
    </Box>
  );
};

const skeleton = <Skeleton rows={7} height={64} />;

/** Begins with the schedule that is copied. */
const CopyForm = ({ id }: { id: string }) => {
  const got = useGet<ScheduleDetail>(path`/app/api/schedules/${id}`);
  return (
    <Loaded
      got={got}
      operation="getSchedule"
      skeleton={skeleton}
      list={{ label: pages.schedules, href: to.schedules() }}
    >
      {(schedule) => (
        <NewScheduleForm first={toCopy(schedule)} back={to.schedule(schedule.agent_id, schedule.id)} />
      )}
    </Loaded>
  );
};

/** Makes a schedule: empty, for an agent (`?agent=`), or like another one (`?copy=`). */
export const NewSchedulePage = () => {
  const { agent, copy } = useUrlState<ReturnType<typeof newScheduleSearch>>().search;
  const got = useAgents({ mode: 'worker' });
  const back = agent === undefined ? to.schedules() : to.agent(agent, { tab: 'schedules' });
  return (
    <Page title={pages.newSchedule} crumbs={[{ label: pages.schedules, href: to.schedules() }]}>
      <Loaded got={got} operation="listAgents" skeleton={skeleton}>
        {({ data: workers }) =>
          workers.length === 0 ? (
            <NoAgents />
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

/** The agent that needs no choosing. */
const onlyOne = (workers: readonly { id: string }[]): string | undefined =>
  workers.length === 1 ? workers[0]!.id : undefined;
