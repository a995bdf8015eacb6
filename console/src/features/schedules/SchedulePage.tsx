import { Navigate, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type LoadState, listPolling, useOperation } from '../../api/index.ts';
import type { ScheduleDetail } from '../../api/types.gen.ts';
import { PageTabs } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { pages } from '../../text/en/pages.ts';
import { schedule as words } from '../../text/en/schedule.ts';
import { Columns, Loaded, Page, Problem, Skeleton, useKeptFocus } from '../../ui/index.ts';
import { Actions } from './detail/Actions.tsx';
import { DefinitionBox, DefinitionTab } from './detail/Definition.tsx';
import css from './detail/detail.module.css';
import { HeaderSentence } from './detail/HeaderSentence.tsx';
import { History } from './detail/History.tsx';
import { Ledger } from './detail/Ledger.tsx';
import { Upcoming } from './detail/Upcoming.tsx';
import { Why } from './detail/Why.tsx';
import { nameOf } from './shared/name.ts';
import { useScheduleActions } from './shared/use-actions.ts';

const stateOf = ({ paused, blocked_reason, overdue }: ScheduleDetail): string | undefined => {
  if (paused) return words.statePaused;
  if (blocked_reason !== null) return words.stateBlocked;
  return overdue ? words.stateOverdue : undefined;
};

/** The tabs, and at their side why it ran or did not, and the definition. */
const Content = ({ schedule }: { schedule: ScheduleDetail }) => {
  const side = (
    <div className={css.side}>
      <Why schedule={schedule} />
      <DefinitionBox schedule={schedule} />
    </div>
  );
  const withSide = (tab: ReactNode) => () => <Columns side={side}>{tab}</Columns>;
  return (
    <PageTabs
      label={words.tabs}
      words={words}
      keeps={['outcome', 'from', 'to', 'at']}
      tabs={{
        occurrences: withSide(<Ledger schedule={schedule} />),
        upcoming: withSide(<Upcoming schedule={schedule} />),
        history: withSide(<History schedule={schedule} />),
        definition: () => <DefinitionTab schedule={schedule} />,
      }}
    />
  );
};

const list = { label: pages.schedules, href: to('/schedules') };

const said = {
  run: () => words.started,
  resume: (schedule: ScheduleDetail) => words.resumedDone(nameOf(schedule)),
};

const Shown = ({ schedule, got }: { schedule: ScheduleDetail; got: LoadState<ScheduleDetail> }) => {
  useKeptFocus(String(schedule.enabled));
  const { run, resume } = useScheduleActions(said);
  const failed = run.error ?? resume.error;
  const { agent } = schedule;
  return (
    <Page
      title={nameOf(schedule)}
      titlePrefix={stateOf(schedule)}
      crumbs={[list, { label: agent.name, href: to('/agents/$agentId', { agentId: agent.id }) }]}
      lead={<HeaderSentence schedule={schedule} />}
      actions={<Actions schedule={schedule} etag={got.etag} run={run} resume={resume} />}
    >
      {failed && (
        <div className={css.problem}>
          <Problem error={failed} />
        </div>
      )}
      <Loaded got={got}>{() => <Content schedule={schedule} />}</Loaded>
    </Page>
  );
};

/** The page of one schedule: the outcome of each occurrence and its reason, the next times, and the changes. */
export const SchedulePage = () => {
  const { agentId, scheduleId } = useParams({ from: '/shell/agents/$agentId/schedules/$scheduleId' });
  const got = useOperation('findSchedule', { schedule_id: scheduleId }, { every: listPolling(false) });
  const { data, error } = got;
  if (!data || error?.status === 404) {
    return (
      <Page title={pages.schedule} crumbs={[list]}>
        <Loaded
          got={got}
          operation="findSchedule"
          list={list}
          audit={to('/audit', {}, { target_id: scheduleId })}
          skeleton={<Skeleton rows={10} height={55} />}
        >
          {() => null}
        </Loaded>
      </Page>
    );
  }
  // The address can name another agent than that of the schedule.
  const params = { agentId: data.agent.id, scheduleId: data.id };
  if (params.agentId !== agentId)
    return <Navigate to="/agents/$agentId/schedules/$scheduleId" params={params} search replace />;
  return <Shown key={data.id} schedule={data} got={got} />;
};
