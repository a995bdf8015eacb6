import { Navigate, useParams } from '@tanstack/react-router';
import { path, useGet } from '../../api/index.ts';
import type { ScheduleDetail } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { pages } from '../../text/en/pages.ts';
import { Loaded, Page } from '../../ui/index.ts';
import { scheduleViews } from './search.ts';

/**
 * Leads from `/schedules/$id` to the page of the schedule, whose address names its agent. The query stays. The name of a
 * view, as people type it, leads to the view.
 */
export const ScheduleRedirectPage = () => {
  const { scheduleId = '' } = useParams({ strict: false });
  const view = scheduleViews.find((name) => name === scheduleId);
  return view ? (
    <Navigate to={to.schedules({ view })} replace />
  ) : (
    <ScheduleRedirect scheduleId={scheduleId} />
  );
};

const ScheduleRedirect = ({ scheduleId }: { scheduleId: string }) => {
  const got = useGet<ScheduleDetail>(path`/app/api/schedules/${scheduleId}`);
  return (
    <Page title={pages.schedule} crumbs={[{ label: pages.schedules, href: to.schedules() }]}>
      <Loaded
        got={got}
        operation="getSchedule"
        list={{ label: pages.schedules, href: to.schedules() }}
        audit={to.audit({ target_id: scheduleId })}
      >
        {({ agent, id }) => <Navigate to={to.schedule(agent.id, id)} search replace />}
      </Loaded>
    </Page>
  );
};
