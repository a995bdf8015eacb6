import { useOperation } from '../../../api/index.ts';
import type { ScheduleDetail, ScheduleVersion } from '../../../api/types.gen.ts';
import { useCursor, useUrlState } from '../../../routing/url-state.ts';
import { schedule as words } from '../../../text/en/schedule.ts';
import { Time, zoneLabel } from '../../../time/index.ts';
import { Box, type Column, Loaded, Pager, Skeleton, Table, Tag, TwoLines } from '../../../ui/index.ts';
import type { scheduleSearch } from '../search.ts';
import { paramsOf } from '../shared/use-actions.ts';

const columnsFor = (timezone: string): Column<ScheduleVersion>[] => [
  {
    key: 'when',
    title: words.changedWhen(zoneLabel(timezone)),
    width: '128px',
    cell: ({ at }) => <Time at={at} form="day" zone={timezone} fixedZone />,
  },
  { key: 'what', title: words.whatChanged, phone: 'below', cell: ({ text }) => text },
  {
    key: 'times',
    title: words.times,
    width: '38%',
    phone: 'below',
    cell: ({ description, cron_expression, timezone: zone, enabled }) => (
      <>
        <TwoLines below={<code>{`${cron_expression}\u00a0· ${zone}`}</code>}>{description}</TwoLines>
        {!enabled && <Tag>{words.off}</Tag>}
      </>
    ),
  },
];

export const History = ({ schedule }: { schedule: ScheduleDetail }) => {
  const { timezone } = schedule;
  const { next } = useUrlState<ReturnType<typeof scheduleSearch>>().search;
  const got = useOperation('listScheduleVersions', paramsOf(schedule), {
    query: { next },
    keepPrevious: true,
  });
  const pager = useCursor(got.data?.next);
  return (
    <>
      <Loaded got={got} operation="listScheduleVersions" skeleton={<Skeleton rows={5} height={55} />}>
        {({ data }) => (
          <Box>
            <Table
              label={words.versions}
              columns={columnsFor(timezone)}
              rows={data}
              rowKey={({ revision }) => `revision-${revision}`}
              name={({ text }) => text}
            />
          </Box>
        )}
      </Loaded>
      <Pager {...pager} />
    </>
  );
};
