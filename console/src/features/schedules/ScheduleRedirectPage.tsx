import { Navigate, useParams } from '@tanstack/react-router';
import { useOperation } from '../../api/index.ts';
import { to } from '../../routing/to.ts';
import { pages } from '../../text/en/pages.ts';
import { Loaded, Page } from '../../ui/index.ts';
import { scheduleViews } from './search.ts';

/**
 * Leads from `/schedules/$id` to the page of the schedule, whose address names its agent. The query stays. The name of a
 * view, as people type it, leads to the view.
 */
export const ScheduleRedirectPage = () => {
  const { scheduleId } = useParams({ from: '/shell/schedules/$scheduleId' });
  const view = scheduleViews.find((name) => name === scheduleId);
  return view ? (
    <Navigate to="/schedules" search={{ view }} replace />
  ) : (
    <ScheduleRedirect scheduleId={scheduleId} />
  );
};

const ScheduleRedirect = ({ scheduleId }: { scheduleId: string }) => {
  const got = useOperation('findSchedule', { schedule_id: scheduleId });
  return (
    <Page title={pages.schedule} crumbs={[{ label: pages.schedules, href: to('/schedules') }]}>
      <Loaded
        got={got}
        operation="getSchedule"
        list={{ label: pages.schedules, href: to('/schedules') }}
        audit={to('/audit', {}, { target_id: scheduleId })}
      >
        {({ agent, id }) => (
          <Navigate
            to="/agents/$agentId/schedules/$scheduleId"
            params={{ agentId: agent.id, scheduleId: id }}
            search
            replace
          />
        )}
      </Loaded>
    </Page>
  );
};
