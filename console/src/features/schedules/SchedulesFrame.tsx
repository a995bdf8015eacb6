import type { ReactNode } from 'react';
import { useAgentExample } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { useUrlState } from '../../routing/url-state.ts';
import { pages } from '../../text/en/pages.ts';
import { schedules as words } from '../../text/en/schedules.ts';
import { ButtonLink, curlOf, EmptyState, Page, Segmented, useDisabledReason } from '../../ui/index.ts';
import { type SchedulesSearch, scheduleViews } from './search.ts';

const views = scheduleViews.map((value) => ({ value, label: words.views[value] }));

const NewSchedule = () => (
  <ButtonLink kind="primary" href={to('/schedules/new')} disabledReason={useDisabledReason('createSchedule')}>
    {words.newSchedule}
  </ButtonLink>
);

const example = {
  work_item_name: words.exampleName,
  cron_expression: '30 2 * * 1-5',
  timezone: 'Europe/Berlin',
  message: words.exampleMessage,
};

export const NoSchedules = () => (
  <EmptyState
    sentence={words.empty}
    action={<NewSchedule />}
    curl={useAgentExample(true, (agent_id, base) =>
      curlOf(base, 'createSchedule', { agent_id }, { body: example }),
    )}
  />
);

export const SchedulesFrame = ({
  lead,
  empty = false,
  wide = false,
  children,
}: {
  lead?: ReactNode;
  /** There is no schedule at all: the button is below. */
  empty?: boolean;
  wide?: boolean;
  children: ReactNode;
}) => {
  const { search, set } = useUrlState<SchedulesSearch>();
  return (
    <Page
      title={pages.schedules}
      lead={lead}
      wide={wide}
      actions={
        <>
          <Segmented
            label={words.view}
            hiddenLabel
            value={search.view ?? 'list'}
            options={views}
            onChange={(view) => set({ view: view === 'list' ? undefined : view })}
          />
          {!empty && <NewSchedule />}
        </>
      }
    >
      {children}
    </Page>
  );
};
