import { polling, useOperation } from '../../api/index.ts';
import type { Overview } from '../../api/types.gen.ts';
import { to } from '../../routing/to.ts';
import { overview as words } from '../../text/en/overview.ts';
import { pages } from '../../text/en/pages.ts';
import { ButtonLink, Columns, Loaded, Page, Skeleton, Updated, useDisabledReason } from '../../ui/index.ts';
import { AttentionList } from './AttentionList.tsx';
import { CostFigures } from './CostFigures.tsx';
import { Numbers } from './Numbers.tsx';
import { isOpen, SetUp } from './SetUp.tsx';
import { Start } from './Start.tsx';
import { overviewQuery } from './search.ts';
import { TimeBand } from './TimeBand.tsx';

const isEmpty = ({ setup }: Overview): boolean => !setup.agent && !setup.first_run;

const leadOf = (overview: Overview): string => {
  if (isEmpty(overview)) return words.nothingYet;
  const { attention, schedules } = overview;
  const sum = { onTime: 0, all: 0 };
  for (const { on_time, late, caught_up, skipped, missing } of schedules.per_hour) {
    sum.onTime += on_time;
    sum.all += on_time + late + caught_up + skipped + missing;
  }
  const first = attention.length === 0 ? words.calm : words.needs(attention.length);
  return `${first} ${words.onTime(sum.onTime, sum.all)}`;
};

const Content = ({ overview }: { overview: Overview }) => {
  if (isEmpty(overview)) {
    return (
      <Columns side={<SetUp state={overview.setup} />}>
        <Start />
      </Columns>
    );
  }
  return (
    <>
      <AttentionList lines={overview.attention} />
      <TimeBand />
      <Numbers overview={overview} />
      {overview.costs && <CostFigures costs={overview.costs} />}
      {isOpen(overview.setup) && <SetUp state={overview.setup} />}
    </>
  );
};

export const OverviewPage = () => {
  const got = useOperation('getOverview', {}, { query: overviewQuery, every: polling.overview });
  const mayRun = useDisabledReason('createWorkItem');
  const mayCreate = useDisabledReason('createSchedule');
  const { data } = got;
  return (
    <Page
      title={pages.overview}
      lead={data ? leadOf(data) : ''}
      actions={
        data &&
        !isEmpty(data) && (
          <>
            {/* `Loaded` says it where a refresh failed. */}
            {!got.error && <Updated at={got.updatedAt} />}
            <ButtonLink href={to('/work-items/new')} disabledReason={mayRun}>
              {words.run}
            </ButtonLink>
            <ButtonLink kind="primary" href={to('/schedules/new')} disabledReason={mayCreate}>
              {words.newSchedule}
            </ButtonLink>
          </>
        )
      }
    >
      <Loaded got={got} operation="getOverview" skeleton={<Skeleton rows={6} height={60} />}>
        {(overview) => <Content overview={overview} />}
      </Loaded>
    </Page>
  );
};
