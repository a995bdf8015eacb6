import { listPolling, useOperation } from '../../api/index.ts';
import type { ListedSchedule } from '../../api/types.gen.ts';
import { to } from '../../routing/to.ts';
import { useUrlState } from '../../routing/url-state.ts';
import { agents as words } from '../../text/en/agents.ts';
import { pages } from '../../text/en/pages.ts';
import { Time } from '../../time/index.ts';
import { type Column, Muted, TwoLines } from '../../ui/index.ts';
import { ListTab } from './ListTab.tsx';

/** The name of a schedule, or the times at which it runs. */
const nameOf = ({ work_item_name, description }: ListedSchedule): string =>
  work_item_name?.trim() || description;

const columns: readonly Column<ListedSchedule>[] = [
  {
    key: 'name',
    title: words.name,
    width: '40%',
    cell: nameOf,
  },
  {
    key: 'when',
    title: words.expression,
    phone: 'below',
    cell: ({ description, cron_expression, timezone }) => (
      <TwoLines
        below={
          <>
            <code>{cron_expression}</code> {timezone}
          </>
        }
      >
        {description}
      </TwoLines>
    ),
  },
  {
    key: 'next',
    title: words.next,
    cell: ({ next_run_at, timezone }) =>
      next_run_at ? <Time at={next_run_at} form="both" zone={timezone} /> : <Muted>{words.pausedNow}</Muted>,
  },
];

export const SchedulesTab = ({ agentId }: { agentId: string }) => {
  const { search } = useUrlState<{ next?: string }>();
  const query = { agent_id: agentId, next: search.next, limit: 50 };
  const got = useOperation('listAllSchedules', {}, { query, every: listPolling(false), keepPrevious: true });
  return (
    <ListTab
      label={pages.schedules}
      got={got}
      operation="listAllSchedules"
      columns={columns}
      name={nameOf}
      href={({ id }) => to('/agents/$agentId/schedules/$scheduleId', { agentId, scheduleId: id })}
      create={{
        label: words.newSchedule,
        operation: 'createSchedule',
        href: to('/schedules/new', {}, { agent: agentId }),
      }}
      none={words.noneScheduled}
    />
  );
};
